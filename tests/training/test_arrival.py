"""What arrivals teach that were otherwise: had nobody known who wrote them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.domain.entities import NOBODY
from bot.quality.training.arrivals import Arrival
from bot.quality.training.learning import anonymous
from bot.search.embedding.local_models import WordLlama
from bot.search.index import TextAnalyser
from bot.search.index.arrays import Floats
from bot.search.index.index import ephemeral_index
from bot.search.matching import Matcher, features
from tests.matching.made import an_issue, fill

WORDS = ("sync", "upload", "stops", "after", "reconnect", "timeout", "phone", "viewer")
DAYS = (1.0, 40.0, 92.5, 93.0, 93.5, 99.0, 99.5, 99.99)


def _compared(authors: tuple[str, ...], asker: str) -> Floats:
    issues = [
        an_issue(20 + at, f"{word} stops after reconnect", " ".join(WORDS[: at + 3]), author=author, days=DAYS[at])
        for at, (word, author) in enumerate(zip(WORDS, authors, strict=True))
    ]
    target = an_issue(90, "upload stops after a reconnect", " ".join(WORDS), author=asker, days=100.0)
    with ephemeral_index(TextAnalyser(), WordLlama()) as index:
        fill(index, *issues)
        with Matcher(index).session(1, target) as session:
            numbers, values = session.compared()
    return values[np.argsort(numbers)]


@pytest.mark.slow
def test_an_arrival_without_its_authors_is_as_if_they_had_never_been_known() -> None:
    """The probability where nobody is known is learned from it, so that it must be what is judged then."""
    known = _compared(("boje", "tonje") * 4, "boje")
    unknown = _compared((NOBODY,) * 8, NOBODY)
    assert not np.array_equal(known, unknown)
    arrival = Arrival(90, known, np.arange(len(known)), np.zeros(len(known)), 1.0)
    assert np.allclose(anonymous(arrival).values, unknown)
    again = anonymous(replace(arrival, values=unknown))
    assert np.allclose(again.values, unknown)
    at = features.NAMES.index("within_a_week")
    assert 0 < unknown[:, at].sum() < len(unknown)
