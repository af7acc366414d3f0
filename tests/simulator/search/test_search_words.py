"""Issue 2, item 9: what the properties of the search leave open about words, scripts and quotes."""

from __future__ import annotations

import pytest

from tests.simulator.search.search_reference import found, index_of, issue

INDEX = index_of(
    [
        issue(1, "Login crashes on start", "The session is lost."),
        issue(2, "Crash at login", "Happens with-proxy only.", comments=("me too, crashed", "login first")),
        issue(3, "Proxy settings ignored", "I set net.proxy_host with care"),
        issue(4, "日本語の入力で落ちる", "ログイン画面"),
        issue(5, "Café menu", "ＦＵＬＬ width, ภาษาไทย, हिन्दी"),
    ]
)


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        pytest.param("LOGIN Crashing", [1, 2], id="words are ANDed; case and word form do not matter"),
        pytest.param("the", [1], id="there are no stop words"),
        pytest.param("with-proxy", [2, 3], id="a compound's parts need not be neighbours"),
        pytest.param('"with-proxy"', [2], id="quoted they must be"),
        pytest.param("net.proxy_host", [3], id="an underscore is part of a word, a dot is not"),
        pytest.param("日本", [4], id="characters without spaces are found as a run"),
        pytest.param("本日", [], id="and not in another order"),
        pytest.param("ログイン 入力", [4], id="two runs"),
        pytest.param("cafe", [], id="accents count"),
        pytest.param("CAFÉ", [5], id="in any case"),
        pytest.param("full", [5], id="full-width letters are letters"),
        pytest.param("ภาษาไทย हिन्दी", [5], id="scripts with vowel signs"),
        pytest.param("!!! ... login", [1, 2], id="punctuation asks for nothing"),
        pytest.param("nonsense:login", [1, 2][:0], id="an unknown qualifier is text"),
        pytest.param("settings:proxy", [3], id="with all its words"),
        pytest.param("login -session", [1], id="a minus before a word is no NOT"),
    ],
)
def test_words_and_phrases(q: str, expected: list[int]) -> None:
    assert found(INDEX, q) == expected
