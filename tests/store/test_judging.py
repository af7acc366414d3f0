"""What is remembered of the judge (J2, J6, C6a)."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from bot.conversation.config.schema import JudgeConfig
from bot.domain.judge_protocol import JudgedPair, JudgeIssue, JudgeLimits, JudgeQuestion, JudgeVerdict
from bot.search.judge.judge import HostJudge
from bot.search.judge.prompt import Completion, Price, Prompt
from bot.storage import Store
from bot.storage.decisions import DAY, KEPT_DAYS, JudgeUsage

SAID = JudgedPair(JudgeVerdict.SAME, "page 7", "")
LIMITS = JudgeLimits(calls=3, tokens=1_000, calls_each=2, tokens_each=600, calls_author=2)


def test_j_what_the_judge_said_goes_with_either_issue(store: Store) -> None:
    said = store.judgements
    said.put(1, 5, {"a": (3, SAID), "b": (4, SAID)}, "reader judge-1", 100.0)
    assert said.get(1, ["a", "b", "c"]) == {"a": SAID, "b": SAID} and said.get(2, ["a"]) == {}
    store.forget_issue(1, 3)
    assert set(said.get(1, ["a", "b"])) == {"b"}
    store.forget_issue(1, 5)
    assert said.get(1, ["a", "b"]) == {}


def test_j6_budgets_are_of_the_host_each_repository_and_each_author(store: Store) -> None:
    said = store.judgements

    def begin(repo: int, author: str, now: float, tokens: int = 100) -> int | None:
        return said.begin(repo, 5, author, tokens, LIMITS, now)

    first = begin(1, "ann", 1_000.0)
    assert first is not None and begin(1, "Ann", 1_000.0) is not None
    assert begin(2, "ann", 1_000.0) is None, "an hour for an author"
    assert begin(1, "bea", 1_000.0) is None, "a day for a repository"
    assert begin(2, "bea", 1_000.0, 900) is None, "tokens of the host"
    assert begin(2, "bea", 1_000.0) is not None
    assert begin(3, "cem", 1_000.0) is None, "a day for the host"
    said.end(first, 80, 20, 0.5, 1.5)
    assert said.spent(1, 0.0, 2_000.0) == JudgeUsage(2, 180, 20, 0.5)
    assert begin(3, "ann", 1_000.0 + DAY) is not None


def test_j_what_is_old_enough_is_erased(store: Store) -> None:
    store.judgements.put(1, 5, {"a": (3, SAID)}, "reader", 0.0)
    store.judgements.begin(1, 5, "ann", 1, LIMITS, 0.0)
    assert store.judgements.prune(KEPT_DAYS * DAY + 1) == 2


class Answering:
    """A model that calls the candidate, and the copy, the same."""

    model = "reader-1"

    def ask(self, question: Prompt, seconds: float) -> Completion:
        numbers = (*question.numbers, question.copy, question.other)
        rows = [
            {"number": number, "verdict": "different" if number == question.other else "same"} for number in numbers
        ]
        return Completion(json.dumps({"candidates": rows}), 80, 20, self.model)


@pytest.mark.parametrize("stores", [True, False])
def test_j6_calls_about_a_repository_whose_answers_are_not_kept_count_as_well(store: Store, stores: bool) -> None:
    calls, verdicts = store.judgements, store.judgements if stores else None
    host = HostJudge(
        Answering(), calls, verdicts, JudgeLimits(9, 99_999, 9, 99_999, 9), Price(1e6), 5.0, lambda: 1_000.0
    )
    judge = host.of(9, JudgeConfig(), private=False)
    assert judge is not None
    day = datetime(2026, 1, 1, tzinfo=UTC)
    new, old = (JudgeIssue(number, "It crashes", "At once.", "open", day) for number in (5, 3))
    for _ in range(2):
        assert judge.opinion(JudgeQuestion(new, (old,)), "ann").said[3].verdict is JudgeVerdict.SAME
    assert calls.spent(9, 0.0, 2_000.0) == JudgeUsage(1, 80, 20, 80.0)
    assert len(calls.of_issue(9, 5)[0]) == (1 if stores else 0)
