"""What candidates are duplicates of is looked up, once each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

import pytest

from bot.finder.options import FindOptions
from bot.finder.weighing import Weighed, results
from bot.model import Actor, Issue, RepoRef, State

REPO = RepoRef("acme", "app")
DAY = datetime(2024, 1, 1, tzinfo=UTC)


def an_issue(number: int, state: State = "closed") -> Issue:
    return Issue(
        repo=REPO,
        id=number,
        node_id="",
        number=number,
        title=f"Issue {number}",
        body="",
        state=state,
        state_reason="duplicate" if state == "closed" else None,
        author=Actor("ann"),
        labels=(),
        created_at=DAY,
        updated_at=DAY,
        closed_at=None,
        url=f"https://github.example/acme/app/issues/{number}",
    )


def test_each_issue_of_a_chain_is_looked_up_once() -> None:
    asked: list[int] = []

    def look_up(numbers: Collection[int]) -> tuple[Mapping[int, Issue], Mapping[int, int]]:
        asked.extend(numbers)
        # 4 repeats 3, which repeats 2, which repeats 1.
        return {n: an_issue(n, "open" if n == 1 else "closed") for n in numbers}, {n: n - 1 for n in numbers if n > 1}

    one = Weighed(an_issue(4), 0.8, ("full-text",), tuple, duplicate_of=3)
    (shown,) = results(an_issue(9, "open"), [(one, 0.8)], FindOptions(state="all"), look_up)
    assert (shown[0].issue.number, shown[0].also) == (1, (2, 3, 4))
    assert asked == [3, 2, 1]


@pytest.mark.parametrize(
    "options", [FindOptions(state="all", rejected={2}), FindOptions(state="all", earlier_only=True)]
)
def test_c4_what_may_not_be_told_of_is_no_evidence_for_what_it_is_a_duplicate_of(options: FindOptions) -> None:
    """Who says that a duplicate of #1 is another thing has said it of what likened #1 to this one."""
    target = an_issue(2 if options.earlier_only else 5, "open")
    of_one = Weighed(an_issue(3 if options.earlier_only else 2), 0.8, ("full-text",), tuple, duplicate_of=1)
    one = Weighed(an_issue(1, "open"), 0.1, ("vectors",), tuple)
    (shown,) = results(target, [(of_one, 0.8), (one, 0.1)], options, lambda numbers: ({}, {}))
    assert (shown[0].issue.number, shown[0].confidence, shown[0].sources) == (1, 0.1, ("vectors",))
