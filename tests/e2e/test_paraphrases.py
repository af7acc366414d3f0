"""P5: in a repository of 176 issues most short paraphrases are named unasked, and hardly anything that is new."""

from __future__ import annotations

import re

from tests.e2e.harness import Doppel
from tests.e2e.paraphrases import AGAIN, NEW


def test_p5_what_is_told_again_is_named_and_what_is_new_is_left_alone(busy: Doppel) -> None:
    again = [said(busy, title, body) for _, title, body in AGAIN]
    named = [bool(reports(busy, number) & numbers) for (number, *_), numbers in zip(AGAIN, again, strict=True)]
    spoken = [bool(said(busy, title, body)) for title, body in NEW]
    for here, (number, title, _) in zip(named, AGAIN, strict=True):
        print(f"#{number} {'named' if here else 'not named'}: {title}")
    for here, (title, _) in zip(spoken, NEW, strict=True):
        print(f"{'a comment' if here else 'silence'}: {title}")
    print(f"{sum(named)} of {len(named)} paraphrases named, comments on {sum(spoken)} of {len(spoken)} new issues")
    assert sum(named) >= 14
    assert sum(spoken) <= 2


def said(busy: Doppel, title: str, body: str) -> set[int]:
    """The issues that the bot names unasked."""
    # Each by another person, since `per_author` puts off the eleventh of an hour.
    number = busy.open(title, body, author=f"reporter-{sum(map(ord, title))}").number
    return {int(one) for comment in busy.said(number) for one in re.findall(r"^\d\. \[#(\d+)\]", comment, re.MULTILINE)}


def reports(busy: Doppel, number: int) -> set[int]:
    """A report and those that the project's people have closed as its duplicates."""
    original = busy.sim.issue(busy.repo, number)
    issues = busy.sim.issues_of(busy.repository)
    return {number, *(issue.number for issue in issues if issue.duplicate_of is original)}
