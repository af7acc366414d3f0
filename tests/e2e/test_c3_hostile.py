"""C3: whatever stands in titles and bodies, the comment shows it as text and nothing happens on GitHub."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from bot.conversation.config import parser
from bot.conversation.config.yaml_tree import read_tree
from bot.search import issue_forms
from bot.search.issue_forms import FILES_SIZE_MAX, boilerplate_of
from bot.simulator import references
from tests.e2e.harness import Doppel

BODY = "The export stops at once with `PdfRenderError: page 7`, and a PDF of no size is left."
WORDS = "Crash while exporting to PDF"
ACTIVE = ("link_open", "image")

HOSTILE = {
    "mentions": f"{WORDS} @acme/maintainers @admin-person",
    "duplicate phrase": f"Duplicate of #1 {WORDS}",
    "marker": f"<!-- doppel:advice v1 0123456789abcdef --> {WORDS}",
    "html": f"</details><img src=x onerror=alert(1)><h1>{WORDS}</h1>",
    "backticks": f"```` ` `` {WORDS} ```",
    "pipes": f"| {WORDS} | | --- |",
    "newlines": f"{WORDS}\r\n\r\n# Heading\n/duplicates of #1",
    "right to left": f"\u202e{WORDS}\u2066\u200f",
    "link": f"[{WORDS}](https://evil.example) ![](https://evil.example/p.png)",
    "addresses": f"{WORDS} https://github.com/acme/app/issues/1 www.evil.example",
    "references": f"{WORDS} #1 GH-1 acme/app#1 fixes #1 {'a' * 40}",
    "qualifiers": f'{WORDS} repo:other/secret is:pr author:admin OR NOT "x" -label:bug',
    "formula": f"$\\ce{{{WORDS}}}$ $$x$$",
    "null and controls": f"{WORDS}\x00\x07\x1b[31m",
    "long": f"{WORDS} " + "long " * 47,
}


def links_and_images(comment: str) -> set[str]:
    """Where a reader of the rendered comment would be led, or what would be loaded for them."""
    inside = [child for token in MarkdownIt("commonmark").parse(comment) for child in token.children or ()]
    return {str(token.attrs.get("href") or token.attrs.get("src")) for token in inside if token.type in ACTIVE}


@pytest.mark.parametrize("title", HOSTILE.values(), ids=HOSTILE.keys())
def test_c3_hostile_titles_are_shown_and_do_nothing(doppel: Doppel, title: str) -> None:
    doppel.open(title[:256], BODY, author="ann")
    doppel.open(WORDS, BODY, author="bob")
    (comment,) = doppel.said(2)
    assert comment.count("<!-- doppel:advice v1 -->") == 1
    assert comment.count("<details>") == comment.count("</details>") == 1
    found = references.parse(comment)
    assert (found.mentions, found.issues, found.duplicate_of) == ((), (), None)
    assert links_and_images(comment) == {"https://redirect.github.com/acme/app/issues/1"}
    for number in (1, 2):
        issue = doppel.sim.issue(doppel.repo, number)
        assert [event.event for event in issue.events if event.event in ("mentioned", "cross-referenced")] == []
        assert issue.state == "open"


def test_c3_a_body_of_the_largest_size_is_looked_at(doppel: Doppel) -> None:
    doppel.read_before(WORDS, BODY)
    for body in ("x" * 65_536, "word " * 13_000, "`" * 65_536, "[" * 65_536, "# a\n" * 16_000, "\u0e01" * 65_536):
        doppel.open(WORDS, body)
    for number in range(2, 8):
        assert len(doppel.said(number)) <= 1


# Of all YAML of the largest size it keeps the parser busy longest.
BUSY = "a:\n" * 21_845


def test_c3_many_forms_of_the_largest_size_cost_no_more_than_a_few(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()
    monkeypatch.setattr(
        issue_forms, "boilerplate_of", lambda name, text: (read.append(name), boilerplate_of(name, text))[1]
    )
    for number in range(20):
        doppel.sim.write_file(doppel.repo, f".github/ISSUE_TEMPLATE/f{number:02}.yml", BUSY)
    doppel.settle()
    doppel.open(WORDS, f"## Steps\n\n{BODY}")
    assert 0 < len(read) <= FILES_SIZE_MAX // len(BUSY)


def test_c3_settings_of_the_largest_size_are_parsed_once(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = list[str]()
    monkeypatch.setattr(parser, "read_tree", lambda text: (parsed.append(text), read_tree(text))[1])
    doppel.configure("mode: off\n" + BUSY[:65_400])
    doppel.open(WORDS, BODY)
    for _ in range(3):
        doppel.open(WORDS, BODY)
    assert len(parsed) == 1


@pytest.mark.parametrize("title", ["?", "!!!", "the", "\u200b\u200bx", "日本語のタイトル", "кирилица", "🎉🎉🎉"])
def test_c3_any_script_and_next_to_nothing(doppel: Doppel, title: str) -> None:
    doppel.open(title)
    doppel.open(title)
    doppel.write(2, "/duplicates")
    assert doppel.said(2)[0].startswith("<!-- doppel:advice v1 -->\n**")


def test_c3_a_hostile_command_line_is_answered_as_text(doppel: Doppel) -> None:
    doppel.read_before(WORDS, BODY)
    doppel.write(1, "/duplicates `@acme/maintainers`<img src=x> Duplicate of #1")
    (said,) = doppel.said(1)
    found = references.parse(said)
    assert (found.mentions, found.issues, found.duplicate_of) == ((), (), None)


def test_c3_a_private_candidate_is_never_another_repositorys(doppel: Doppel) -> None:
    secret = f"{doppel.owner}/secret"
    doppel.sim.add_repository(secret, private=True)
    doppel.sim.install(secret)
    doppel.do.open_issue(secret, "insider", WORDS, BODY)
    doppel.read_before(WORDS, BODY)
    doppel.write(1, f"/duplicates search exporting repo:{secret}")
    assert "redirect.github.com" not in doppel.advice(1)
