"""Which issues a text names, and where a name does not count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import RepoRef
from bot.text.github_urls import named_by, named_issues, without_code
from tests.effort import costs_at_most
from tests.matching.made import an_issue

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
        ("1) first\n   and\n\n\tlike #12\n\n\n  so\n\n    #13", {"acme/app#12", "acme/app#13"}),
        ("Like\n    #12\n\n    #13\n\n    #14\n#15", {"acme/app#12", "acme/app#15"}),
        ("- a\n    ```\n    #12\n    ```\n", set()),
        ("<!-- like #12 --> #13", {"acme/app#13"}),
        ("a lone ` tick #12", {"acme/app#12"}),
        ("#99999999999", set()),
    ],
)
def test_what_a_text_names(text: str, named: set[str]) -> None:
    assert named_issues(text, HERE) == named


def test_addresses_of_an_enterprise_server_count_there() -> None:
    text = "https://git.acme.example/acme/app/issues/12"
    assert named_issues(text, HERE, "git.acme.example") == {"acme/app#12"}
    assert named_issues(text, HERE) == set()


def test_an_issue_is_read_as_its_repository_and_its_host_have_it() -> None:
    there = replace(an_issue(5, "Like #3", body="https://git.acme.example/acme/app/issues/12"), repo=HERE)
    assert named_by(replace(there, url="https://git.acme.example/acme/app/issues/5")) == {"acme/app#3", "acme/app#12"}
    assert named_by(replace(there, url="https://github.com/acme/app/issues/5")) == {"acme/app#3"}
    assert named_by(replace(there, url="")) == {"acme/app#3"}


@given(st.text(alphabet="`~#1 \na<!->", max_size=60))
def test_code_hides_names_and_never_makes_any(text: str) -> None:
    assert len(without_code(text)) <= len(text) + text.count("`") + text.count("~") + 1
    assert named_issues(f"``````````````\n{text.replace('`', '')}\n``````````````\n", HERE) == set()


@pytest.mark.parametrize(
    "body",
    [
        "`" * 65_536,
        "` `` " * 13_000,
        "#1 " * 20_000,
        "```\n" * 16_000,
        "https://" * 8_000,
        "a/" * 30_000,
        "A-" * 32_000,
        "gh-1_" * 13_000,
        "#1" + "_" * 65_000,
    ],
)
def test_a_hostile_text_is_read_in_linear_time(body: str) -> None:
    with costs_at_most(1):
        named_issues(body, HERE)
