"""Which issues may be mentioned at all, whatever they resemble."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.conversation.config.schema import RepoConfig
from bot.domain.entities import Issue, IssueRef, RepoRef, State
from bot.search.finder import FindOptions, bot_options
from bot.search.finder.scoring import ScoredIssue, group_results
from tests.matching.made import an_issue

TARGET = an_issue(5, "It fails", days=5.0)


@pytest.mark.parametrize(
    ("options", "days", "may"),
    [
        (FindOptions(), 9.0, True),
        # Numbers of other repositories say nothing about which came first.
        (FindOptions(earlier_only=True), 9.0, False),
        (FindOptions(earlier_only=True), 5.0, True),
        (FindOptions(rejected={9}), 1.0, True),
        (FindOptions(rejected_elsewhere={"acme/lib#9"}), 1.0, False),
        (FindOptions(rejected_elsewhere={"acme/lib#8", "acme/app#9"}), 1.0, True),
        (FindOptions(rejected_elsewhere={"acme/lib#9"}, earlier_only=True), 1.0, False),
    ],
)
def test_c4_h6_of_other_repositories(options: FindOptions, days: float, may: bool) -> None:
    there = replace(an_issue(9, "It fails", days=days), repo=RepoRef("Acme", "Lib"))
    assert options.may_mention(there, TARGET) is may


@pytest.mark.parametrize(
    ("options", "number", "days", "may"),
    [
        (FindOptions(earlier_only=True), 4, 4.0, True),
        (FindOptions(earlier_only=True), 6, 6.0, False),
        # It was transferred here, so that its number tells nothing of its age.
        (FindOptions(earlier_only=True), 4, 6.0, False),
        (FindOptions(), 4, 6.0, True),
        (FindOptions(rejected={4}), 4, 4.0, False),
        (FindOptions(), 5, 5.0, False),
    ],
)
def test_c4_of_the_same_repository(options: FindOptions, number: int, days: float, may: bool) -> None:
    assert options.may_mention(an_issue(number, "It fails", days=days), TARGET) is may


@pytest.mark.parametrize("repo", ["acme/app", "Acme/Lib"])
def test_what_it_is_a_sub_issue_of_is_not_mentioned_wherever_that_is(repo: str) -> None:
    parent = replace(an_issue(3, "It fails", days=1.0), repo=RepoRef.parse(repo))
    other = replace(parent, number=4)
    for made_of, may in ((None, [True, True]), (IssueRef(parent.repo, 3), [False, True])):
        target = replace(TARGET, parent=made_of)
        options = bot_options(RepoConfig(), target, 0.5, rejected=(), rejected_elsewhere=(), duplicates={})
        assert [options.may_mention(issue, target) for issue in (parent, other)] == may


def member(number: int, state: State = "closed") -> Issue:
    reason = "duplicate" if state == "closed" else None
    return replace(an_issue(number, f"Issue {number}"), state=state, state_reason=reason)


@pytest.mark.parametrize(
    "options", [FindOptions(state="all", rejected={2}), FindOptions(state="all", earlier_only=True)]
)
def test_c4_what_may_not_be_told_of_is_no_evidence_for_what_it_is_a_duplicate_of(options: FindOptions) -> None:
    """Who says that a duplicate of #1 is another thing has said it of what likened #1 to this one."""
    target = member(2 if options.earlier_only else 5, "open")
    of_one = ScoredIssue(member(3 if options.earlier_only else 2), 0.8, ("full-text",), tuple, duplicate_of=1)
    one = ScoredIssue(member(1, "open"), 0.1, ("vectors",), tuple)
    (shown,) = group_results(target, [(of_one, 0.8), (one, 0.1)], options, lambda numbers: ({}, {}))
    assert (shown[0].issue.number, shown[0].confidence, shown[0].sources) == (1, 0.1, ("vectors",))
