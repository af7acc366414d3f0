"""H3: addresses that lead to one thing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.entities import RepoRef
from bot.text.github_urls import is_github_url_match, named_by, named_issues, normalize_url, thing_at, without_code
from tests.matching.made import an_issue


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://www.Example.org:80/a/b/?q=1#top", "https://example.org/a/b"),
        ("HTTPS://example.org:443//", "https://example.org"),
        ("https://example.org:8443/A/", "https://example.org:8443/A"),
        ("  https://user:secret@example.org./x  ", "https://example.org/x"),
        ("http://[2001:DB8::1]:80/x", "https://[2001:db8::1]/x"),
        ("https://www.com/x", "https://www.com/x"),
        ("mailto:ann@example.org", "mailto:ann@example.org"),
        ("https://[::1", "https://[::1"),
        ("https://example.org:99999/x", "https://example.org:99999/x"),
    ],
)
def test_h3_normalize_url(url: str, normal: str) -> None:
    assert normalize_url(url) == normal


hosts = st.sampled_from(["example.org", "WWW.Example.org", "www.www.a.b", "[::1]", "a.b.", "github.com"])
urls = st.one_of(
    st.text(max_size=40),
    st.builds(
        "{}://{}{}{}{}".format,
        st.sampled_from(["http", "https", "HTTP", "ftp"]),
        hosts,
        st.sampled_from(["", ":80", ":443", ":8080", ":x"]),
        st.sampled_from(["", "/", "/a/b//", "/%41", "/a b"]),
        st.sampled_from(["", "?q=1", "#x", "?q#x"]),
    ),
)


@pytest.mark.parametrize("url", ["https:// #3", "https://a.b/ #3", "https://a.b/ / /?x"])
def test_h3_space_in_odd_places_changes_nothing_more_either(url: str) -> None:
    assert normalize_url(normalize_url(url)) == normalize_url(url)


THREAD = "https://github.com/acme/app/issues/12"
FILE = "https://github.com/acme/app/blob/main/src/a.ts"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (THREAD, "http://www.github.com/Acme/APP/issues/12/", True),
        (THREAD, "https://github.com/acme/app/pull/12/files?w=1", True),
        (THREAD, "https://github.com/acme/app/issues/12#issuecomment-99", True),
        (THREAD, "https://redirect.github.com/acme/app/issues/12", True),
        (THREAD, "https://api.github.com/repos/acme/app/issues/12", True),
        (THREAD, "https://api.github.com/repos/acme/app/pulls/12", True),
        (THREAD, "https://github.com/acme/app/discussions/12", True),
        (FILE, "https://github.com/acme/app/raw/main/src/a.ts", True),
        (FILE, "https://raw.githubusercontent.com/ACME/app/main/src/a.ts", True),
        (FILE, "https://raw.githubusercontent.com/acme/app/refs/heads/main/src/a.ts", True),
        (FILE, "https://api.github.com/repos/acme/app/contents/src/a.ts?ref=main", True),
        (FILE, "https://api.github.com/repos/acme/app/contents/src/a.ts?ref=refs/heads/main", True),
        (FILE, FILE + "#L10-L20", True),
        ("https://github.com/acme/app/tree/main/src", "https://github.com/Acme/App/tree/main/src/", True),
        ("https://github.com/acme/app/tree/main/src", "https://github.com/acme/app/tree/refs/heads/main/src", True),
        ("https://github.com/acme/app/wiki/Retrying", "https://redirect.github.com/Acme/App/wiki/Retrying/?a#b", True),
        ("https://github.com/acme/app/commit/a1b2", "http://www.github.com/ACME/app/commit/a1b2", True),
        ("https://github.com/acme/app.git", "https://api.github.com/repos/acme/app", True),
        (THREAD, "https://github.com/acme/app/issues/13", False),
        (THREAD, "https://github.com/acme/other/issues/12", False),
        (THREAD, "https://github.com.evil.example/acme/app/issues/12", False),
        (THREAD, "https://github.com/acme/app/issues", False),
        ("https://github.com/acme/app/wiki/Retrying", "https://github.com/acme/app/wiki/retrying", False),
        ("https://github.com/acme/app/issues", "https://github.com/acme/app/pulls", False),
        (FILE, "https://github.com/acme/app/blob/next/src/a.ts", False),
        (FILE, "https://github.com/acme/app/blob/main/src/A.ts", False),
        (FILE, "https://github.com/acme/app/tree/main/src/a.ts", False),
        (FILE, "https://api.github.com/repos/acme/app/contents/src/a.ts", False),
        ("https://example.org/a", "https://example.org/a", False),
        ("", "", False),
    ],
)
def test_h3_addresses_of_one_thing_match_both_ways_and_others_do_not(one: str, other: str, same: bool) -> None:
    assert is_github_url_match(one, other) is same
    assert is_github_url_match(other, one) is same


@given(urls)
def test_h3_an_address_that_leads_anywhere_matches_itself_however_it_is_written(url: str) -> None:
    assert is_github_url_match(url, url) == (thing_at(url) is not None)
    if "?ref=" not in url and thing_at(url) is not None:
        assert is_github_url_match(url, normalize_url(url))


HERE = RepoRef("Acme", "App")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Same as #12?", {"acme/app#12"}),
        ("(#12), #13. GH-14", {"acme/app#12", "acme/app#13", "acme/app#14"}),
        ("gh-12: Gh-13 sigh-14 gh-15a", {"acme/app#12", "acme/app#13"}),
        ("_#12_ and __#13__, *_#14_*; a_#15 #16_a", {"acme/app#12", "acme/app#13", "acme/app#14"}),
        ("see other/lib#7 and Acme/app#8", {"other/lib#7", "acme/app#8"}),
        ("https://github.com/acme/app/issues/12#issuecomment-1.", {"acme/app#12"}),
        ("[this](https://redirect.github.com/acme/app/pull/3)", {"acme/app#3"}),
        ("https://example.org/acme/app/issues/12", set()),
        ("https://example.org/#12 and a#12, &#12; ##12 #12a #0 #", set()),
        ("> quoted #12", {"acme/app#12"}),
        ("`#12` and ``a ` #13`` but #14", {"acme/app#14"}),
        ("```\n#12\n```\n#13", {"acme/app#13"}),
        ("~~~~ log\n#12\n~~~\n#13\n~~~~\n#14", {"acme/app#14"}),
        ("```\n#12 never closed", set()),
        ("```TypeError: #12```\n\nLike #13\n````#14` ````\n#15", {"acme/app#13", "acme/app#15"}),
        ("text\n\n    #12\n\t#13\n#14", {"acme/app#14"}),
        ("- seen in\n    - #12\n\n    and #13\n\nDone:\n\n    #14", {"acme/app#12", "acme/app#13"}),
        ("1) first\n   and\n\n\tlike #12\n\n\n  so\n\n    #13", {"acme/app#12"}),
        ("Like\n    #12\n\n    #13\n\n    #14\n#15", {"acme/app#12", "acme/app#15"}),
        ("- a\n    ```\n    #12\n    ```\n", set()),
        ("<!-- like #12 --> #13", {"acme/app#13"}),
        ("a lone ` tick #12", {"acme/app#12"}),
        (f"{'- ' * 12}\n\nLike #12", {"acme/app#12"}),
        ("- - -\n\n    #12\n\n#13", {"acme/app#13"}),
        (f"{'- ' * 12}x\n\nLike #12", {"acme/app#12"}),
        ("#12\n" + "-\n" * 32_000 + "#13", {"acme/app#12"}),
        ("#12\r" + "-\r" * 32_000 + "#13", {"acme/app#12"}),
        ("#99999999999", set()),
    ],
)
def test_what_a_text_names(text: str, named: set[str]) -> None:
    assert named_issues(text, HERE) == named


def test_addresses_of_an_enterprise_server_count_there() -> None:
    text = "https://git.acme.example/acme/app/issues/12"
    assert named_issues(text, HERE, "git.acme.example") == {"acme/app#12"}
    assert named_issues(text, HERE) == set()


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("https://git.acme.example/Acme/app/pull/5#issuecomment-9", True),
        ("http://git.acme.example/api/v3/repos/acme/app/issues/5", True),
        ("https://api.git.acme.example/repos/acme/app/issues/5", True),
        ("https://git.acme.example/acme/app/issues/6", False),
        ("https://github.com/acme/app/issues/5", False),
        ("https://git.other.example/acme/app/issues/5", False),
    ],
)
def test_h3_an_enterprise_server_has_its_own_things(other: str, same: bool) -> None:
    here = "https://git.acme.example/acme/app/issues/5"
    assert not is_github_url_match(here, other)
    for pair in ((here, other), (other, here)):
        assert is_github_url_match(*pair, enterprise="git.acme.example") is same


def test_h3_a_file_of_an_enterprise_server_is_one_whichever_way_it_is_read() -> None:
    page = "https://git.acme.example/acme/app/blob/main/a.py"
    for raw in ("https://git.acme.example/raw/acme/app/main/a.py", "https://raw.git.acme.example/acme/app/main/a.py"):
        assert is_github_url_match(page, raw, "git.acme.example")


def test_an_issue_is_read_as_its_repository_and_its_host_have_it() -> None:
    there = replace(an_issue(5, "Like #3", body="https://git.acme.example/acme/app/issues/12"), repo=HERE)
    assert named_by(replace(there, url="https://git.acme.example/acme/app/issues/5")) == {"acme/app#3", "acme/app#12"}
    assert named_by(replace(there, url="https://github.com/acme/app/issues/5")) == {"acme/app#3"}
    assert named_by(replace(there, url="")) == {"acme/app#3"}


@given(st.text(alphabet="`~#1 \na<!->", max_size=60))
def test_code_hides_names_and_never_makes_any(text: str) -> None:
    assert len(without_code(text)) <= len(text) + text.count("`") + text.count("~") + 1
    assert named_issues(f"``````````````\n{text.replace('`', '')}\n``````````````\n", HERE) == set()
