"""T5: a re-check within five minutes reuses the searches and says so; `fresh` does not."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from bot.platform.metrics import REGISTRY
from tests.e2e.harness import Doppel
from tests.e2e.reports import AGAIN, FIRST


def test_t5_a_recheck_reuses_the_searches_and_says_so(pair: Doppel) -> None:
    assert "[Cached result from" not in pair.said(2)[0]
    before = pair.searches()
    pair.write(2, "/duplicates")
    assert pair.searches() == before
    assert "[Cached result from" in pair.said(2)[0]
    pair.write(2, "/duplicates fresh")
    assert pair.searches() > before
    assert "[Cached result from" not in pair.said(2)[0]


def test_t5_the_cache_ends_after_five_minutes(pair: Doppel) -> None:
    before = pair.searches()
    pair.sim.clock.advance(301)
    pair.write(2, "/duplicates")
    assert pair.searches() > before
    assert "[Cached result from" not in pair.said(2)[0]


def test_t5_one_issues_searches_are_not_anothers(pair: Doppel) -> None:
    before = pair.searches()
    pair.open(*AGAIN)
    assert pair.searches() > before
    assert pair.advice(2)
    assert pair.advice(3)


def test_t5_what_is_acted_upon_is_never_remembered(pair: Doppel) -> None:
    pair.sim.close_issue(pair.repo, 1, "triage-person", "completed")
    pair.do.edit_issue(pair.repo, 2, title="Dark mode", body="Please.")
    pair.write(2, "/duplicates")
    assert "Dark" in pair.said(2)[0]


@pytest.mark.parametrize("complete", [True, False], ids=["index", "no index"])
@pytest.mark.parametrize("leaves", ["deleted", "transferred"])
def test_t5_what_was_found_and_is_gone_since_is_not_shown_from_memory(
    doppel: Doppel, leaves: str, complete: bool
) -> None:
    """The title of an issue that is deleted goes with it; a re-check wrote it into the comment again."""
    with nullcontext() if complete else doppel.before_backfill():
        doppel.read_before(*FIRST)
        doppel.open(*AGAIN)
        assert FIRST[0] in doppel.said(2)[0]
        doppel.write(2, "/duplicates")
        assert "[Cached result from" in doppel.said(2)[0]
        assert FIRST[0] in doppel.said(2)[0]
        if leaves == "deleted":
            doppel.sim.delete_issue(doppel.repo, 1)
        else:
            doppel.sim.add_repository(f"{doppel.owner}/other")
            doppel.sim.transfer_issue(doppel.repo, 1, f"{doppel.owner}/other")
        doppel.settle()
        doppel.write(2, "/duplicates")
    assert "[Cached result from" in doppel.said(2)[0]
    assert FIRST[0] not in doppel.said(2)[0]


def test_t5_what_was_found_is_shown_from_memory_where_github_cannot_say_whether_it_is_still_there(
    doppel: Doppel,
) -> None:
    with doppel.before_backfill():
        doppel.read_before(*FIRST)
        doppel.open(*AGAIN)
        fault = doppel.sim.faults.add("GET /repos/*/issues/1", 502, times=None)
        doppel.write(2, "/duplicates")
    assert fault.hits > 0
    assert "[Cached result from" in doppel.said(2)[0]
    assert FIRST[0] in doppel.said(2)[0]


def test_t4_what_the_worker_remembered_is_counted_for_metrics(pair: Doppel) -> None:
    before = _answered()
    pair.write(2, "/duplicates")
    after = _answered()
    assert after["memory"] > before["memory"]
    assert after["github"] >= before["github"] > 0
    pair.said(2)


def _answered() -> dict[str, float]:
    """T7: told for each operation."""
    name = "doppel_remembered_calls_total"
    labels = {"tool": "github.search"}
    return {who: REGISTRY.get_sample_value(name, labels | {"from": who}) or 0.0 for who in ("memory", "github")}
