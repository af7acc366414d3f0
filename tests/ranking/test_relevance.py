"""H5: what candidates are sorted by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.model import Actor, Issue, RepoRef
from bot.ranking.rarity import CountedWords
from bot.ranking.relevance import Relevance, relevances
from bot.ranking.similarity import dice_sorensen

BY_WORDS = (Relevance.BM25, Relevance.BM25F, Relevance.BM25PLUS)
START = datetime(2024, 1, 1, tzinfo=UTC)
REPORT = "The export dialog writes an empty file when the project lies on a network share and the quota is exceeded"


def issue(number: int, title: str, body: str = "") -> Issue:
    moment = START + timedelta(days=number)
    return Issue(
        repo=RepoRef("acme", "app"),
        id=number,
        node_id=f"I_{number}",
        number=number,
        title=title,
        body=body,
        state="open",
        state_reason=None,
        author=Actor("ann"),
        labels=(),
        created_at=moment,
        updated_at=moment,
        closed_at=None,
        url=f"https://github.com/acme/app/issues/{number}",
    )


def test_h5_title_is_the_title_scorer_and_learned_the_probability() -> None:
    target, others = issue(9, "Export is broken"), [issue(1, "Export broke"), issue(2, "Fonts are blurred")]
    stats = CountedWords()
    assert relevances(Relevance.TITLE, target, others, [0.1, 0.9], stats) == [
        dice_sorensen(target.title, other.title) for other in others
    ]
    assert relevances(Relevance.LEARNED, target, others, [0.1, 0.9], stats) == [0.1, 0.9]


@pytest.mark.parametrize("by", BY_WORDS)
def test_h5_words_that_are_rare_in_the_repository_count_more(by: Relevance) -> None:
    stats = CountedWords()
    stats.add({number: {"crash"} for number in range(1, 50)})
    target = issue(99, "Crash in the quagga parser")
    common, rare, neither = issue(1, "Crash in a menu"), issue(2, "Slow quagga menu"), issue(3, "Fonts blurred")
    values = relevances(by, target, [common, rare, neither], [0, 0, 0], stats)
    assert values[1] > values[0] > values[2] == 0


@pytest.mark.parametrize("by", list(Relevance))
def test_h5_all_see_the_same_results_and_answer_shares(by: Relevance) -> None:
    target = issue(9, "Export writes an empty file", REPORT)
    others = [issue(n, f"Export {n}", REPORT[: 20 * n]) for n in range(1, 6)]
    values = relevances(by, target, others, [0.5] * 5, CountedWords())
    assert len(values) == len(others)
    assert all(0 <= value <= 1 for value in values)
    assert relevances(by, target, [], [], CountedWords()) == []
