"""The default model: the static word vectors that the `wordllama` package brings along, 256 dimensions.

Its two files are read directly. Importing the package would configure the process's logging and take twice the memory,
for a mean of rows.
"""

from __future__ import annotations

import importlib.util
import itertools
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.batches import batches
from bot.embedding.protocol import EmbeddingError, unit

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_ROWS = "embedding.weight"
# Texts whose rows are gathered at once, which bounds the memory that this takes.
_BATCH = 32


class WordLlama:
    """A text's vector is the mean of its tokens' vectors."""

    name = "wordllama-l2-supercat-256"
    remote = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Any, NDArray[np.float16]] | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return unit(self.vectors(texts))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Like `embed`, but of any length, and NaN where the model's file is broken."""
        tokenizer, rows = self._load()
        parts = [self._sums(tokenizer, rows, batch) for batch in batches(texts, _BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, rows.shape[1]), dtype=np.float32)

    def _sums(self, tokenizer: Any, rows: NDArray[np.float16], texts: Sequence[str]) -> NDArray[np.float32]:
        # The fast way, which does not note where in the text each token was.
        tokens = [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
        lengths = [len(ids) for ids in tokens]
        every = np.fromiter(itertools.chain.from_iterable(tokens), np.int64, sum(lengths))
        # Most tokens come again and again, and numpy takes long to make a number of half precision a longer one.
        used, places = np.unique(every, return_inverse=True)
        gathered = rows[used].astype(np.float32)[places]
        sums = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        # One after the other, which is five times as fast as `np.add.reduceat`.
        for i, end in enumerate(itertools.accumulate(lengths)):
            np.add.reduce(gathered[end - lengths[i] : end], axis=0, out=sums[i])
        return sums

    def _load(self) -> tuple[Any, NDArray[np.float16]]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _read_files()
            return self._loaded


def _read_files() -> tuple[Any, NDArray[np.float16]]:
    package = importlib.util.find_spec("wordllama")
    if package is None or package.origin is None:
        raise EmbeddingError("the package wordllama is not installed; install it, or choose another model or none")
    try:
        return _read(Path(package.origin).parent)
    except Exception as failure:
        told = "the model could not be read"
        raise EmbeddingError(f"wordllama's model could not be read: {failure}", told=told) from failure


@cache
def _read(directory: Path) -> tuple[Any, NDArray[np.float16]]:
    """Once a process, whoever asks: it takes a tenth of a second and 16 MB, and nobody changes what was read."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(directory / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rows: NDArray[np.float16] = load_file(directory / _WEIGHTS)[_ROWS]
    rows.setflags(write=False)
    return tokenizer, rows
