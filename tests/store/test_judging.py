"""What is remembered of the judge (J2, J6, C6a)."""

from __future__ import annotations

from bot.domain.judge_protocol import JudgedPair, JudgeLimits, JudgeVerdict
from bot.search.judge.judge import InMemoryRecord
from bot.storage import Store
from bot.storage.decisions import DAY, KEPT_DAYS, JudgeUsage

SAID = JudgedPair(JudgeVerdict.SAME, "page 7", "")
LIMITS = JudgeLimits(calls=3, tokens=1_000, calls_each=2, tokens_each=600, calls_author=2)


def test_j_what_the_judge_said_goes_with_either_issue(store: Store) -> None:
    said = store.judgements
    said.keep(1, 5, {"a": (3, SAID), "b": (4, SAID)}, "reader judge-1", 100.0)
    assert said.kept(1, ["a", "b", "c"]) == {"a": SAID, "b": SAID} and said.kept(2, ["a"]) == {}
    store.forget_issue(1, 3)
    assert set(said.kept(1, ["a", "b"])) == {"b"}
    store.forget_issue(1, 5)
    assert said.kept(1, ["a", "b"]) == {}


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
    store.judgements.keep(1, 5, {"a": (3, SAID)}, "reader", 0.0)
    store.judgements.begin(1, 5, "ann", 1, LIMITS, 0.0)
    assert store.judgements.prune(KEPT_DAYS * DAY + 1) == 2


def test_j6_calls_about_a_repository_whose_answers_are_not_kept_count_as_well(store: Store) -> None:
    record = InMemoryRecord(store.judgements)
    record.keep(9, 5, {"a": (3, SAID)}, "reader", 1_000.0)
    first = record.begin(9, 5, "ann", 100, LIMITS, 1_000.0)
    assert first is not None and record.begin(9, 5, "ann", 100, LIMITS, 1_000.0) is not None
    assert record.begin(9, 5, "bea", 100, LIMITS, 1_000.0) is None, "a day for a repository"
    record.end(first, 80, 20, 0.5, 1.5)
    assert store.judgements.spent(9, 0.0, 2_000.0) == JudgeUsage(2, 180, 20, 0.5)
    assert store.judgements.kept(9, ["a"]) == {}
