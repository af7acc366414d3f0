"""The text model: a small transformer that reads title and text together, tuned on issues that were marked duplicates.

`minilm/` holds its weights (int8, ONNX), its tokenizer and how both were made. ONNX Runtime runs it on the processor; a
text of 128 tokens takes some 20 ms of one core.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.embedding.protocol import EmbeddingError, unit

#: Tokens of a text that are read, and characters, of which no 128 tokens have more.
MOST_TOKENS, MOST_CHARACTERS = 128, 1_200


class TextModel:
    """Safe to share between threads; the weights are loaded on first use, once a process.

    `directory` holds `model.onnx`, `tokenizer.json` and `made.json`, by default those that Doppel comes with.
    """

    remote = False

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or Path(str(resources.files("bot.embedding").joinpath("minilm")))

    @property
    def name(self) -> str:
        """Which weights these are: vectors of other ones are not compared with them."""
        return _name(self._directory)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, 384), each of length one. Raises EmbeddingError where the model cannot be loaded."""
        session, tokenizer = _load(self._directory)
        made = np.zeros((len(texts), 384), dtype=np.float32)
        # One by one: the scale of the bytes between its layers depends on all of a batch, and so would the vectors.
        for row, text in enumerate(texts):
            tokens = tokenizer.encode(text[:MOST_CHARACTERS])
            ids, mask = (np.array([numbers], dtype=np.int64) for numbers in (tokens.ids, tokens.attention_mask))
            made[row] = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return unit(made)


@cache
def _name(directory: Path) -> str:
    return str(json.loads((directory / "made.json").read_text(encoding="utf-8"))["name"])


_lock = threading.Lock()


def _load(directory: Path) -> tuple[Any, Any]:
    # Without the lock two threads that ask first would both read the file.
    with _lock:
        return _read(directory)


@cache
def _read(directory: Path) -> tuple[Any, Any]:
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as failure:
        raise EmbeddingError(f"the text model needs a package that is not installed: {failure.name}") from failure
    options = onnxruntime.SessionOptions()
    # Threads of its own would wait for those of a worker, which has one for each issue.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(directory / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    except Exception as failure:
        raise EmbeddingError(
            f"the text model in {directory} could not be read: {failure}", told="the text model could not be read"
        ) from failure
    tokenizer.enable_truncation(MOST_TOKENS)
    return session, tokenizer
