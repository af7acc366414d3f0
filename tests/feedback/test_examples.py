"""C7: what people say becomes labelled pairs, and these say of each comment whether it was right. Pure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Fold, Role, UserVerdict, UserVerdictKind
from bot.domain.report import Evidence
from bot.quality.calibration import Point, points
from bot.quality.digest import CommentRating, digest
from bot.quality.feedback import Example, examples
from bot.quality.polling import FoldStep, decide_fold


def decision(number: int, at: float, *candidates: tuple[int, float], threshold: float = 0.2) -> Decision:
    """A comment that names what is over the threshold; silence where nothing is."""
    evidence = tuple(
        Evidence(other, probability, rank, probability >= threshold)
        for rank, (other, probability) in enumerate(candidates, 1)
    )
    outcome = DecisionOutcome.POSTED if any(one.shown for one in evidence) else DecisionOutcome.SILENT
    return Decision(number, at, "opened", "comment", outcome, threshold, "", evidence)


def vote(same: bool, at: float = 50.0, who: Role = Role.TRIAGE, login: str = "ann", number: int = 9) -> FeedbackSignal:
    return FeedbackSignal(number, FeedbackKind.REACTION, login, 0, same, who, at)


def pairs(made: list[Example]) -> list[tuple[int, bool, float, float | None]]:
    return [(one.other, one.same, one.weight, one.probability) for one in made]


def test_c7_a_vote_is_about_what_was_shown_then() -> None:
    decisions = [decision(9, 10.0, (1, 0.8), (2, 0.3), (3, 0.1)), decision(9, 40.0, (4, 0.5))]
    assert pairs(examples(decisions, [vote(False, at=20.0)], [])) == [(1, False, 1.0, 0.8), (2, False, 1.0, 0.3)]
    assert pairs(examples(decisions, [vote(True, at=20.0)], [])) == [(1, True, 1.0, 0.8)]
    assert pairs(examples(decisions, [vote(False, at=41.0)], [])) == [(4, False, 1.0, 0.5)]
    assert examples(decisions, [vote(False, at=20.0)], [], since=21.0) == []


def test_c7_a_vote_that_came_before_the_first_look_was_noted_is_about_that_look() -> None:
    """The look is noted when all of it is done, some requests after its comment; and GitHub's clock is another."""
    decisions = [decision(9, 50.0, (1, 0.8)), decision(9, 90.0, (4, 0.5))]
    assert pairs(examples(decisions, [vote(False, at=45.0)], [])) == [(1, False, 1.0, 0.8)]


def test_c7_a_vote_for_a_comment_that_names_nothing_any_more_is_about_what_it_named_before() -> None:
    nothing_left = replace(decision(9, 40.0, (1, 0.1)), outcome=DecisionOutcome.EDITED)
    decisions = [decision(9, 10.0, (1, 0.8)), nothing_left]
    assert [(one.other, one.same) for one in examples(decisions, [vote(False)], [])] == [(1, False)]


def test_c7_a_vote_for_a_comment_is_not_one_for_the_second_issue_in_it() -> None:
    elsewhere = Evidence(7, 0.9, 1, shown=True, repo="acme/lib")
    shown = replace(decision(9, 10.0, (1, 0.8)), evidence=(elsewhere, Evidence(1, 0.8, 2, shown=True)))
    assert pairs(examples([shown], [vote(True)], [])) == []
    assert pairs(examples([shown], [vote(False)], [])) == [(1, False, 1.0, 0.8)]


def test_c7_who_closes_an_issue_otherwise_does_not_say_that_it_repeats_nothing() -> None:
    decisions = [decision(9, 10.0, (1, 0.15))]
    assert examples(decisions, [FeedbackSignal(9, FeedbackKind.CLOSED, "ann", 0, False, Role.TRIAGE, 20.0)], []) == []


@pytest.mark.parametrize("kind", [FeedbackKind.CLOSED, FeedbackKind.OF])
def test_p1_a_mark_says_something_of_a_comment_that_named_it_and_nothing_of_silence(kind: FeedbackKind) -> None:
    """Role closes a duplicate that the bot held back says that it is one; of what is none nobody says anything."""
    decisions = [decision(9, 10.0, (1, 0.8)), decision(8, 10.0, (1, 0.15))]
    marks = [FeedbackSignal(number, kind, "ann", 1, True, Role.TRIAGE, 20.0) for number in (8, 9)]
    made = examples(decisions, marks, [])
    assert [(one.number, one.same) for one in made] == [(8, True), (9, True)]
    assert points(decisions, made) == [Point(0.8, right=True, weight=1.0)]
    voted = examples(decisions, [FeedbackSignal(8, FeedbackKind.VOTE, "ann", 1, True, Role.TRIAGE, 20.0)], [])
    assert points(decisions, voted) == [Point(0.15, right=True, weight=1.0)], "that one was shown to somebody"


def test_c7_what_is_said_on_the_earlier_of_two_is_about_the_comment_on_the_later_one() -> None:
    decisions = [decision(4, 5.0), decision(9, 10.0, (4, 0.8))]
    closed = FeedbackSignal(4, FeedbackKind.CLOSED, "ann", 9, True, Role.TRIAGE, 20.0)
    rejected = UserVerdict(1, 1, 4, 9, UserVerdictKind.NOT, "ann", 30.0, 70, details={"who": "triage"})
    for made, standing in (
        (examples(decisions, [closed], []), CommentRating.RIGHT),
        (examples(decisions, [], [rejected]), CommentRating.WRONG),
    ):
        assert [(one.number, one.other, one.probability, one.shown) for one in made] == [(9, 4, 0.8, True)]
        found = digest(decisions, made, 0.0, 90.0)
        assert [(line.number, line.standing) for line in found.lines] == [(9, standing)]
        assert found.missed == 0, "the earlier one was reported by nobody before"


def test_c7_the_digest_has_what_was_said_unasked_not_what_a_command_made_of_it() -> None:
    unasked, asked = decision(9, 10.0, (1, 0.8)), replace(decision(9, 20.0, (2, 0.06), threshold=0.05), cause="command")
    assert [(line.other, line.probability) for line in digest([unasked, asked], [], 0.0, 90.0).lines] == [(1, 0.8)]
    agreed = examples([unasked, asked], [FeedbackSignal(9, FeedbackKind.OF, "ann", 2, True, Role.TRIAGE, 30.0)], [])
    assert [line.other for line in digest([unasked, asked], agreed, 0.0, 90.0).lines] == [2], "people judged that one"
    assert [line.other for line in digest([asked], [], 0.0, 90.0).lines] == [2]


def test_c7_a_comment_that_names_other_repositories_issues_alone_is_a_comment() -> None:
    """It was counted as silence, and as one that had missed something where its issue was closed as a duplicate."""
    sibling = Evidence(7, 0.8, 1, shown=True, repo="acme/lib")
    named = replace(
        decision(9, 10.0, (1, 0.1)), outcome=DecisionOutcome.POSTED, evidence=(sibling, Evidence(1, 0.1, 2, False))
    )
    supposed = replace(named, number=10, outcome=DecisionOutcome.SHADOW)
    made = examples([named], [FeedbackSignal(9, FeedbackKind.CLOSED, "ann", 1, True, Role.TRIAGE, 20.0)], [])
    assert [(one.number, one.other, one.same) for one in made] == [(9, 1, True)]
    found = digest([named, supposed, decision(11, 12.0, (1, 0.1))], made, 0.0, 90.0)
    assert (found.looked, found.commented, found.would, found.missed, found.lines) == (3, 1, 1, 0, ())


def test_c7_what_nobody_looked_at_is_not_new_among_what_was_looked_at() -> None:
    """It read "looked at 1 issue (3 new)" where a bot had opened two."""
    alone = [
        replace(decision(number, 10.0), outcome=DecisionOutcome.LEFT_ALONE, reason="a bot caused it")
        for number in (8, 9)
    ]
    found = digest([*alone, decision(7, 12.0, (1, 0.1))], [], 0.0, 90.0)
    assert (found.looked, found.new, found.left_alone) == (1, 1, 2)


def test_c7_a_pair_that_stands_for_a_group_is_that_group() -> None:
    grouped = Decision(
        9, 1.0, "opened", "comment", DecisionOutcome.POSTED, 0.2, "", (Evidence(1, 0.7, 1, True, also=(5,)),)
    )
    verdict = UserVerdict(1, 77, 9, 5, UserVerdictKind.OF, "ann", 3.0, 31)
    made = examples([grouped], [], [verdict])
    assert pairs(made) == [(5, True, 1.0, 0.7)]
    assert points([grouped], made) == [Point(0.7, right=True, weight=1.0)]


def test_c7_a_comment_is_wrong_only_where_everything_in_it_is() -> None:
    decisions = [decision(9, 10.0, (1, 0.8), (2, 0.3))]
    first, second = (
        UserVerdict(n, 77, 9, n, UserVerdictKind.NOT, "ann", 20.0, n, details={"who": "triage"}) for n in (1, 2)
    )
    assert points(decisions, examples(decisions, [], [first])) == []
    assert points(decisions, examples(decisions, [], [first, second])) == [Point(0.8, right=False, weight=1.0)]
    of = UserVerdict(3, 77, 9, 2, UserVerdictKind.OF, "ann", 30.0, 32)
    assert points(decisions, examples(decisions, [], [of])) == [Point(0.3, right=True, weight=1.0)]


def test_c7_of_two_that_closed_an_issue_for_others_the_last_one_holds() -> None:
    """Role corrects an `of` by another one does not leave the comment right that named the first."""
    decisions = [decision(9, 10.0, (1, 0.8))]
    first, second = (UserVerdict(n, 77, 9, n, UserVerdictKind.OF, "ann", 20.0 + n, n) for n in (1, 2))
    assert points(decisions, examples(decisions, [], [first])) == [Point(0.8, right=True, weight=1.0)]
    assert points(decisions, examples(decisions, [], [second, first])) == []


def test_c7_what_not_has_taken_out_of_a_comment_was_wrong_whatever_came_in_its_place() -> None:
    """The comment named #1; after `not #1` it names #5, of which nobody has said anything."""
    decisions = [decision(9, 10.0, (1, 0.6)), decision(9, 21.0, (5, 0.25)), decision(9, 22.0, (5, 0.35))]
    made = examples(
        decisions, [], [UserVerdict(1, 77, 9, 1, UserVerdictKind.NOT, "ann", 20.0, 1, details={"who": "triage"})]
    )
    assert points(decisions, made) == [Point(0.6, right=False, weight=1.0)]
    assert [(line.other, line.standing) for line in digest(decisions, made, 0.0, 90.0).lines] == [
        (1, CommentRating.WRONG)
    ]
    both = [*made, *examples(decisions, [vote(False)], [])]
    assert points(decisions, both) == [Point(0.6, right=False, weight=1.0), Point(0.25, right=False, weight=1.0)]


def test_c7_many_votes_for_one_comment_count_as_the_strongest_of_them() -> None:
    decisions = [decision(9, 10.0, (1, 0.8))]
    votes = [vote(True, who=Role.AUTHOR, login=f"one-{n}") for n in range(9)] + [vote(True, login="triager")]
    assert sum(one.weight for one in points(decisions, examples(decisions, votes, []))) == 1.0


def test_c7_the_digest_says_how_right_the_week_was() -> None:
    decisions = [
        decision(1, 5.0, (99, 0.9)),
        decision(2, 11.0, (99, 0.9)),
        decision(3, 12.0, (99, 0.4)),
        decision(4, 13.0, (98, 0.5)),
        decision(5, 14.0, (97, 0.1)),
        decision(6, 15.0),
    ]
    said = [
        vote(True, number=2),
        vote(False, number=3),
        FeedbackSignal(5, FeedbackKind.CLOSED, "ann", 97, True, Role.TRIAGE, 30.0),
        # To close an issue otherwise says nothing of the comment.
        FeedbackSignal(4, FeedbackKind.CLOSED, "ann", 0, False, Role.TRIAGE, 31.0),
    ]
    found = digest(decisions, examples(decisions, said, []), 10.0, 20.0)
    assert [(line.number, line.other, line.standing) for line in found.lines] == [
        (4, 98, CommentRating.UNKNOWN),
        (3, 99, CommentRating.WRONG),
        (2, 99, CommentRating.RIGHT),
    ]
    assert (found.new, found.looked, found.commented, found.would, found.missed) == (5, 5, 3, 0, 1)


@pytest.mark.parametrize(
    ("fold", "present", "votes", "expected"),
    [
        (Fold.OPEN, "", [], (FoldStep.NOTHING, Fold.OPEN)),
        (Fold.OPEN, "", [vote(False, who=Role.OTHER)], (FoldStep.NOTHING, Fold.OPEN)),
        (Fold.OPEN, "", [vote(False, who=Role.AUTHOR)], (FoldStep.FOLD, Fold.FOLDED)),
        (Fold.OPEN, "spam", [vote(False)], (FoldStep.NOTHING, Fold.OPEN)),
        (Fold.OPEN, "", [vote(False, who=Role.AUTHOR), vote(True, login="bob")], (FoldStep.NOTHING, Fold.OPEN)),
        (Fold.FOLDED, "outdated", [vote(False)], (FoldStep.NOTHING, Fold.FOLDED)),
        (Fold.FOLDED, "outdated", [], (FoldStep.UNFOLD, Fold.LEFT)),
        (
            Fold.FOLDED,
            "outdated",
            [vote(False, who=Role.AUTHOR), vote(True, login="bob")],
            (FoldStep.UNFOLD, Fold.LEFT),
        ),
        (Fold.FOLDED, "", [vote(False)], (FoldStep.NOTHING, Fold.LEFT)),
        (Fold.LEFT, "", [vote(False)], (FoldStep.NOTHING, Fold.LEFT)),
    ],
)
def test_c7_a_comment_is_folded_once_and_never_argued_about(
    fold: Fold, present: str, votes: list[FeedbackSignal], expected: tuple[FoldStep, Fold]
) -> None:
    assert decide_fold(fold, present, votes) == expected
