"""F8a, F8b in the running bot: GitHub's own ranking as a source, and nobody waits for what does not matter."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from bot.simulator.clock import Clock
from bot.simulator.faults import Fault
from bot.simulator.state.repositories import Similarity
from handlers import context as finding
from tests.e2e.harness import Doppel
from tests.e2e.test_sources import AGAIN, FIRST, LINK, searches

RANKING = "GitHub's ranking of similar issues"
SIMILAR = "GET */semantically_similar"
LIMIT = "github-hybrid: GitHub's rate limit for searches by meaning is used up for now"
SAYS = "   - GitHub calls it a likely duplicate\n"
DAY = 86_400


@pytest.fixture
def asked(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of all that GitHub is asked, in order."""
    paths: list[str] = []
    take = doppel.sim.faults.take

    def noted(method: str, path: str) -> Fault | None:
        paths.append(path)
        return take(method, path)

    monkeypatch.setattr(doppel.sim.faults, "take", noted)
    return paths


def ranked(asked: list[str]) -> int:
    return sum(path.endswith("/semantically_similar") for path in asked)


def test_f8a_githubs_ranking_is_a_source_and_its_verdict_a_reason(doppel: Doppel, asked: list[str]) -> None:
    doppel.sim.set_similarity(doppel.repo, "ranked")
    doppel.open(*FIRST, author="ann")
    doppel.open(FIRST[0], AGAIN[1])
    (comment,) = doppel.said(2)
    assert ranked(asked) == 2, "one request an issue"
    assert SAYS in comment.partition("<details>")[0] + "\n"
    assert f"- `#2` – 1 result ({RANKING})" in searches(comment)
    assert (
        f"- `#1` – found by: the full-text index, the semantic index, GitHub's semantic search, {RANKING}\n" in comment
    )
    doppel.write(2, "/duplicates explain #1")
    assert "GitHub calls it a likely duplicate" in doppel.said(2)[1]


def test_f8a_what_github_does_not_call_likely_has_no_such_reason(doppel: Doppel) -> None:
    doppel.sim.set_similarity(doppel.repo, "ranked")
    doppel.read_before(*FIRST)
    doppel.open("Login on Safari: error E1234 since Monday", "It says `AuthTimeoutError` when I log in on my phone.")
    (comment,) = doppel.said(2)
    assert f"- `#2` – 1 result ({RANKING})" in searches(comment)
    assert "likely duplicate" not in comment


def test_f8a_before_the_index_is_complete_it_is_asked_first(doppel: Doppel, asked: list[str]) -> None:
    doppel.sim.set_similarity(doppel.repo, "ranked")
    doppel.read_before(*FIRST)
    asked.clear()
    with doppel.before_backfill():
        doppel.open(FIRST[0], AGAIN[1])
    (comment,) = doppel.said(2)
    assert searches(comment).startswith(f"- `#2` – 1 result ({RANKING})\n- `repo:acme/app is:issue in:title ")
    assert SAYS in comment
    sources = [path for path in asked if path.endswith("/semantically_similar") or path == "/search/issues"]
    assert sources[0].endswith("/issues/2/semantically_similar")
    assert sources.count("/search/issues") == 5


@pytest.mark.parametrize("answers", ["bare", 403, 404, 410])
def test_f8a_where_it_is_not_enabled_it_is_off_noted_once_and_asked_again_after_a_day(
    doppel: Doppel, asked: list[str], caplog: pytest.LogCaptureFixture, answers: Similarity
) -> None:
    doppel.open(*FIRST, author="ann")
    # What the first issue taught is forgotten.
    doppel.sim.clock.advance(DAY)
    doppel.sim.set_similarity(doppel.repo, answers)
    asked.clear()
    with caplog.at_level(logging.INFO, "bot.github.search"):
        doppel.open(*AGAIN)
        doppel.write(2, "/duplicates fresh")
        doppel.open(AGAIN[0], "The same on my phone: AuthTimeoutError, E1234.", author="cy")
    assert ranked(asked) == 1
    why = "GitHub does not rank them" if answers == "bare" else f"GitHub answered {answers}"
    assert caplog.messages.count(f"similar issues in {doppel.repo}: {why}; it is asked again in a day") == 1
    for number in (2, 3):
        (comment,) = doppel.said(number)
        assert LINK.format(1) in comment
        assert RANKING not in comment, "it was not asked, which is no failure"
        assert "What did not work" not in comment
        assert "Something may be missing" not in comment
    doppel.sim.set_similarity(doppel.repo, "ranked")
    doppel.sim.clock.advance(DAY)
    doppel.write(2, "/duplicates fresh")
    assert RANKING in doppel.said(2)[0]


def test_f8a_settings_switch_it_off(doppel: Doppel, asked: list[str]) -> None:
    doppel.configure("sources: {github-similar: off}\n")
    doppel.sim.set_similarity(doppel.repo, "ranked")
    doppel.read_before(*FIRST)
    doppel.open(*AGAIN)
    assert LINK.format(1) in doppel.advice(2)
    assert ranked(asked) == 0


def test_f8a_its_outage_is_told_to_maintainers_alone(doppel: Doppel) -> None:
    doppel.sim.set_similarity(doppel.repo, "ranked")
    doppel.read_before(*FIRST)
    doppel.sim.faults.add(SIMILAR, 503, times=None)
    with doppel.before_backfill():
        doppel.open(*AGAIN)
    (comment,) = doppel.said(2)
    shown, _, folded = comment.partition("<details>")
    assert "not every search answered" not in shown and "**What did not work**" in folded
    assert "- `#2` – no answer, " in searches(comment)


def test_f8b_beside_the_index_what_answers_late_is_missed_and_told_to_maintainers_alone(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    doppel.sim.set_similarity(doppel.repo, "ranked")
    doppel.read_before(*FIRST)
    fault = doppel.sim.faults.add(SIMILAR, "slow", times=None)
    # What is held is late however short the time is.
    monkeypatch.setattr(finding, "UNASKED_SECONDS", 0.1)
    doppel.open(*AGAIN)
    (comment,) = doppel.said(2)
    shown, _, folded = comment.partition("<details>")
    assert LINK.format(1) in shown
    assert "missing" not in shown and "GitHub" not in shown
    assert "**What did not work**\n\n" in folded
    assert "- github-similar: " in folded
    assert fault.hits <= 1, "what nobody waits for is not repeated"
    doppel.sim.faults.clear()
    doppel.write(2, "/duplicates")
    (comment,) = doppel.said(2)
    assert RANKING in searches(comment), "who asks waits for it"


@pytest.fixture
def standing(doppel: Doppel, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of bot and GitHub moves only when somebody sleeps, or an issue is opened."""
    clock = doppel.sim.clock
    monkeypatch.setattr(clock, "_start", datetime.now(UTC))
    return clock


def test_f8b_beside_the_index_nobody_waits_for_a_limit_unless_a_person_asks(doppel: Doppel, standing: Clock) -> None:
    doppel.read_before(*FIRST)
    use_up_the_hybrid_searches(doppel)
    standing.advance(40)
    before = standing.timestamp()
    doppel.open(*AGAIN)
    assert standing.timestamp() == before + 7, "nobody slept, as who waits for his turn does for 14 seconds"
    (comment,) = doppel.said(2)
    shown, _, folded = comment.partition("<details>")
    assert LINK.format(1) in shown
    assert "limit" not in shown and "missing" not in shown
    assert f"- {LIMIT}" in folded
    doppel.write(2, "/duplicates")
    assert standing.timestamp() >= before + 21
    (comment,) = doppel.said(2)
    assert "limit" not in comment
    assert "(GitHub's semantic search)" in comment


def test_f8b_without_an_index_a_limit_is_waited_for(doppel: Doppel, standing: Clock) -> None:
    doppel.read_before(*FIRST)
    use_up_the_hybrid_searches(doppel)
    standing.advance(40)
    with doppel.before_backfill():
        doppel.open(*AGAIN)
    (comment,) = doppel.said(2)
    assert "limit" not in comment
    assert "(GitHub's semantic search)" in comment


def use_up_the_hybrid_searches(doppel: Doppel) -> None:
    """Ten at once, after which the minute has none left."""
    doppel.sim.clock.advance(120)
    known = doppel.services.store.repositories.get(doppel.repository.id)
    assert known is not None and known.installation is not None
    github = doppel.services.github.in_repository(known.installation, known.id)
    for _ in range(10):
        github.search(f"repo:{doppel.repo} is:issue anything", hybrid=True)
