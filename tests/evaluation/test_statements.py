"""What a comment says of an issue being a duplicate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.entities import RepoRef
from bot.quality.evaluation.statements import StatementKind, read_comment

REPO = RepoRef("acme", "app")


def read(text: str, *, by_member: bool = True, closing: bool = False) -> tuple[str, int | None] | None:
    found = read_comment(text, REPO, "2024-01-01T00:00:00Z", by_member=by_member, by="eve", closing=closing)
    return None if found is None else (found.kind.value, found.of)


@pytest.mark.parametrize(
    "text",
    [
        "Duplicate of #7",
        "Thanks!\n\nThis is a dup of https://github.com/acme/app/issues/7#issuecomment-12",
        "Dupe of acme/App#7",
        "```panic: nil map``` is all it says.\n\nDuplicate of #7",
        "Closing, this is duplicate to bug #7",
        "Dup #7, which has the trace",
        "Closing in favor of #7.",
        "Closing this one in favour of issue #7",
        "Duplicate of issue 7.",
        "Duplicate of the issue 7, 3 days older",
        "A linear duplicate of #7",
        "This does not work any more, duplicate of #7",
        "I can't reproduce this (duplicate of #7)",
        "It isn't a bug but a duplicate of #7",
        "This was never fixed - dup of #7",
        "It does not start because it is a duplicate of #7",
        "It isn't new and was closed as a duplicate of #7",
        # What is denied, or said of another issue, does not hide what follows.
        "Not a duplicate of #5. Duplicate of #7",
        "No, this is a duplicate of #7",
        "Dupe of ~~#5~~ #7",
        "#5 is a duplicate of #4, and this is a duplicate of #7",
    ],
)
def test_a_member_says_it(text: str) -> None:
    assert read(text) == ("says", 7)


@pytest.mark.parametrize(
    "text",
    [
        "Maybe a duplicate of #7",
        "This looks like a duplicate of #7",
        "Could be a dup of #7.",
        "Not sure, but a duplicate of #7",
        "I am not really certain; duplicate of #7",
        "Unsure, duplicate of #7",
        "I do not think so, this is a duplicate of #7",
    ],
)
def test_a_supposition_is_a_hint(text: str) -> None:
    assert read(text) == ("hints", 7)


def test_what_others_say_plainly_is_a_hint_of_theirs() -> None:
    found = read_comment("Duplicate of #7", REPO, "", by_member=False, by="eve")
    assert found is not None
    assert (found.kind, found.of, found.by) == (StatementKind.HINTS, 7, "eve")
    supposed = read_comment("Maybe a duplicate of #7", REPO, "", by_member=False, by="eve")
    assert supposed is not None
    assert (supposed.kind, supposed.of, supposed.by) == (StatementKind.HINTS, 7, "")


@pytest.mark.parametrize(
    "text",
    [
        "Duplicate of #7?",
        "Known since #7. Closing this as a dupe of that one.",
        "It is a duplicate. See https://github.com/acme/app/issues/7",
        "In favour of #7",
        "Same as #7",
        "This is the same issue as https://github.com/acme/app/issues/7.",
        "Already reported in #7, thanks!",
    ],
)
@pytest.mark.parametrize("by_member", [True, False])
def test_whoever_closes_with_it_leaves_nothing_open(text: str, by_member: bool) -> None:
    assert read(text, by_member=by_member, closing=True) == ("says", 7)
    assert read(text, by_member=by_member) in (("hints", 7), None)


@pytest.mark.parametrize(
    "text",
    [
        "#7",
        "see also #7!",
        "See: issue #7.",
        "https://github.com/acme/app/issues/7",
        " GH-7\n",
        "<!-- x -->#7",
    ],
)
def test_whoever_closes_with_a_bare_reference_hints_at_it(text: str) -> None:
    """Nobody's hint but this one: what somebody says who is a maintainer would count as said."""
    found = read_comment(text, REPO, "", by_member=True, by="eve", closing=True)
    assert found is not None
    assert (found.kind, found.of, found.by) == (StatementKind.HINTS, 7, "")
    assert read(text) is None, "without the closing it says nothing"


@pytest.mark.parametrize(
    "text",
    ["See #7 and #8", "cc #7", "Fixed by #7", "#7 #8", "See #7 for a way around", "See `#7`", "> #7", "This is #7?"],
)
def test_more_or_less_than_a_bare_reference_hints_at_nothing(text: str) -> None:
    assert read(text, closing=True) is None


@pytest.mark.parametrize(
    "text",
    [
        "This is not a duplicate, but #7 has fixed it.",
        "Closing: a duplicate key is reported since #7.",
        "As a duplicate of what? #7, #8?",
        "This is a duplicate.",
        "Fixed, by the same as #7",
        "No dupe of #7",
    ],
)
def test_a_closing_comment_that_does_not_say_of_which_says_nothing(text: str) -> None:
    assert read(text, closing=True) is None


@pytest.mark.parametrize("closing", [False, True])
@pytest.mark.parametrize("name", ["Acme/Core#7", "https://github.com/acme/core/issues/7"])
def test_an_original_elsewhere_has_no_number_here(name: str, closing: bool) -> None:
    texts = [f"Duplicate of {name}", *([f"Closing as a duplicate. See {name}"] if closing else [])]
    for text in texts:
        found = read_comment(text, REPO, "", by_member=True, closing=closing)
        assert found is not None
        assert (found.kind, found.of) == (StatementKind.SAYS, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "See #7",
        "This is not a duplicate of #7",
        "I don't think this is a duplicate of #7",
        "> Duplicate of #7\n\nWhy?",
        "```\nDuplicate of #7\n```",
        "Comment `Duplicate of #7` to close an issue",
        "Duplicate of #7x",
        "This is no duplicate of #7",
        "With the new trace this is no longer a duplicate of #7",
        "See #11. That acme/app#11 was already closed as a duplicate of #7 helps little",
        "We decided in favour of #7",
        "This cannot be a duplicate of #7",
        "A near-duplicate of #7",
        "Semi-dup of #7",
        "Non-duplicate of #7",
        "Duplicate of issue 7.1",
        "Duplicate of issue 7th of May",
        "Duplicate of issue 7 % of the time",
        "The button makes a duplicate issue 7 times of 10",
        "issue 11 is a duplicate of issue 7",
        "Almost a dup of #7, but not quite",
        "Hardly a duplicate of #7",
        "Half-duplicate of #7",
        "#7 is not a duplicate",
        "This is not a duplicate of #5, or a duplicate of #7",
        "It does not look like the crash, which is a duplicate of #7",
        "Never a dup of #7",
        "Neither new nor a dup of #7",
    ],
)
def test_it_says_nothing_or_denies_it(text: str) -> None:
    assert read(text) is None


@given(st.text(alphabet="duplicate of#7GH-/\n`>.? ", max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for closing in (False, True):
        found = read_comment(text, REPO, "", by_member=True, closing=closing)
        assert found is None or found.kind in StatementKind


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("dup of #" * 8_000, None),
        ("`" * 65_000 + "\nDuplicate of #7", None),
        ("~~~\n" * 16_001 + "Duplicate of #7", None),
        ((" not" + "a" * 100 + " not a dup of #1") * 500, None),
        (">" * 60_000 + "\nDuplicate of #7", ("says", 7)),
    ],
)
def test_hostile_texts_are_read_as_others_are(text: str, found: tuple[str, int] | None) -> None:
    assert read(text) == found
