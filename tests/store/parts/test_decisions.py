"""The decisions of a repository in the store, on both databases: what is read, how much is kept, what erases it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from bot.domain.decisions import Decision, DecisionOutcome, dump, load
from bot.domain.report import Evidence
from bot.storage import Store
from bot.storage.decisions import KEPT_DAYS, KEPT_MOST, KEPT_OF_ISSUE
from bot.storage.engine import make_engine
from bot.storage.schema import decisions as table
from bot.storage.store import export

EVIDENCE = (
    Evidence(3, 0.62, 1, True, {"full-text": 1, "vectors": None}, (0.8, 0.9), ("identifiers",), (5, 9)),
    Evidence(4, 0.1, 2, False, {"siblings": 3}, kind="issue", repo="acme/lib"),
)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    engine = make_engine(store_url)
    store = Store(engine)
    yield store
    store.close()


def decision(number: int, at: float, outcome: DecisionOutcome = DecisionOutcome.POSTED) -> Decision:
    return Decision(number, at, "opened", "comment", outcome, 0.2, "", EVIDENCE)


def test_c6a_decisions_are_exported_and_go_with_the_issue_and_with_the_repository(store: Store) -> None:
    kept = store.decisions
    for repo_id, number in ((1, 7), (1, 8), (2, 7)):
        kept.add(repo_id, decision(number, 10.0))
    rows = {name: list(rows) for name, rows in export(store.engine, 1)}["decisions"]
    assert [json.loads(row["evidence"])[0]["sources"] for row in rows] == [{"full-text": 1, "vectors": None}] * 2
    store.forget_issue(1, 7)
    assert [one.number for one in kept.latest(1)] == [8]
    store.forget(1)
    assert kept.latest(1) == []
    assert len(kept.latest(2)) == 1


def test_who_edits_one_issue_all_day_drives_out_no_other_decisions(store: Store) -> None:
    kept, edits = store.decisions, KEPT_OF_ISSUE + 3
    kept.add(1, decision(8, 1.0))
    kept.add(2, decision(7, 1.0))
    for at in range(edits):
        kept.add(1, decision(7, 10.0 + at))
    assert [one.at for one in kept.of_issue(1, 7)] == [10.0 + at for at in range(3, edits)]
    assert (len(kept.of_issue(1, 8)), len(kept.of_issue(2, 7))) == (1, 1)


@pytest.mark.slow
def test_decisions_are_bounded_in_age_and_in_number(store: Store) -> None:
    kept, now = store.decisions, KEPT_DAYS * 86_400.0 + 1000
    kept.add(1, decision(7, 999.0))
    rows = [
        {
            "repo_id": 2,
            "number": number,
            "at": now,
            "cause": "opened",
            "mode": "comment",
            "outcome": "silent",
            "reason": "",
            "bar": 0.2,
            "evidence": "[]",
        }
        for number in range(KEPT_MOST + 2)
    ]
    with store.engine.begin() as connection:
        connection.execute(sa.insert(table), rows)
    assert kept.prune(now) == 3
    assert kept.latest(1) == []
    assert {one.number for one in kept.latest(2, KEPT_MOST * 2)} == set(range(2, KEPT_MOST + 2))


def test_evidence_of_a_later_version_can_be_read() -> None:
    rows = json.loads(dump(EVIDENCE))
    assert load(json.dumps([row | {"colour": "blue"} for row in rows])) == EVIDENCE
