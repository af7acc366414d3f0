"""Models that run on this machine, and the choice of the host's model."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.domain.formats import batches
from bot.platform.local import pip_install
from bot.search.embedding import Embedder, EmbeddingError, all_invalid, unit

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
# Embed at most _BATCH texts at once, to bound the memory. Embed up to _FEW texts one by one: for a
# batch, the tokenizer starts threads, which takes longer than embedding a few texts.
_BATCH, _FEW = 32, 2

_lock = threading.Lock()


class WordLlama:
    """The default: static vectors of the package `wordllama`. A text's vector is the mean of its tokens' vectors.

    The package's files are read directly: importing the package would configure logging and take twice the memory.
    """

    name = "wordllama-l2-supercat-256"
    remote = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return unit(self.vectors(texts))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Sums of token vectors, which point the same way as the means. NaN in a sum shows a broken file."""
        # `cache` alone would let several threads read the files at once.
        with _lock:
            tokenizer, token_vectors = _read_wordllama()
        sums = np.zeros((len(texts), token_vectors.shape[1]), dtype=np.float32)
        for batch in batches(range(len(texts)), _BATCH if len(texts) > _FEW else 1):
            encodings = tokenizer.encode_batch_fast([texts[at] for at in batch], add_special_tokens=False)
            for at, encoding in zip(batch, encodings, strict=True):
                sums[at] = token_vectors[np.array(encoding.ids, dtype=np.int64)].astype(np.float32).sum(axis=0)
        return sums


@cache
def _read_wordllama() -> tuple[Any, NDArray[np.float16]]:
    package = importlib.util.find_spec("wordllama")
    if package is None or package.origin is None:
        raise EmbeddingError("the package wordllama is not installed; install it, or choose another model or none")
    directory = Path(package.origin).parent
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(directory / _TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        token_vectors: NDArray[np.float16] = load_file(directory / _WEIGHTS)[_TENSOR]
    except Exception as failure:
        public = "the model could not be read"
        raise EmbeddingError(f"wordllama's model could not be read: {failure}", public_message=public) from failure
    token_vectors.setflags(write=False)
    return tokenizer, token_vectors


#: The text model reads at most the first MOST_TOKENS tokens of a text's first MOST_CHARACTERS characters.
MOST_TOKENS, MOST_CHARACTERS = 128, 1_200
# In languages other than English, the model knows only characters and word pieces, so that unrelated titles look alike:
# the mean cosine of such titles is .05 in English, .40 in Spanish and .59 in Chinese. So a text gets a vector only if
# at least _MIN_KNOWN_SHARE of its letters are in words that the vocabulary has as a whole. Vietnamese passes, with .44.
# On four English trackers, fewer than one issue in a hundred gets no vector.
_MIN_KNOWN_SHARE = 0.35
_UNKNOWN = "[UNK]"


class TextModel:
    """A small transformer that reads title and text together, tuned on issues that were marked duplicates.

    ONNX Runtime runs it on the processor; a text of 128 tokens takes some 20 ms of one core. Safe to share between
    threads. `directory` (by default the shipped `minilm/`) has `model.onnx` (int8), `tokenizer.json`, and `made.json`,
    which says how both were made.
    """

    remote = False

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or Path(str(resources.files("bot.search.embedding").joinpath("minilm")))

    @property
    def name(self) -> str:
        return _name_of(self._directory)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, (texts, 384). Raises EmbeddingError.

        A vector has length one, or is zero for a language that the model cannot read.
        """
        with _lock:
            session, tokenizer = _read_text_model(self._directory)
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        # Embed texts one by one: in a batch, the quantisation would make each vector depend on all texts.
        for row, text in enumerate(texts):
            tokens = tokenizer.encode(text[:MOST_CHARACTERS])
            if not _can_read(tokens, text):
                continue
            ids, mask = (np.array([numbers], dtype=np.int64) for numbers in (tokens.ids, tokens.attention_mask))
            vectors[row] = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return unit(vectors)


def _can_read(tokens: Any, text: str) -> bool:
    """Whether enough letters are in known words: a single token of 2+ letters, not `[UNK]`. Skips words with digits."""
    # Each access to these properties builds the whole list.
    offsets, names = tokens.offsets, tokens.tokens
    tokens_of_word: dict[int, list[int]] = {}
    for at, word in enumerate(tokens.word_ids):
        if word is not None:
            tokens_of_word.setdefault(word, []).append(at)
    known = letters = 0
    for positions in tokens_of_word.values():
        written = text[offsets[positions[0]][0] : offsets[positions[-1]][1]]
        if any(char.isalpha() for char in written) and not any(char.isdigit() for char in written):
            letters += len(written)
            if len(positions) == 1 and len(written) > 1 and names[positions[0]] != _UNKNOWN:
                known += len(written)
    return known >= _MIN_KNOWN_SHARE * letters


@cache
def _name_of(directory: Path) -> str:
    return str(json.loads((directory / "made.json").read_text(encoding="utf-8"))["name"])


@cache
def _read_text_model(directory: Path) -> tuple[Any, Any]:
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as failure:
        raise EmbeddingError(f"the text model needs a package that is not installed: {failure.name}") from failure
    options = onnxruntime.SessionOptions()
    # One thread is enough: the worker has a thread for each issue, and further threads would only compete with these.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Without this, products of bytes overflow on processors without VNNI, and probabilities differ between machines.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        model = str(directory / "model.onnx")
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    except Exception as failure:
        raise EmbeddingError(
            f"the text model in {directory} could not be read: {failure}",
            public_message="the text model could not be read",
        ) from failure
    tokenizer.enable_truncation(MOST_TOKENS)
    return session, tokenizer


PACKAGE = "sentence-transformers>=3"
"""The same requirement as in the extra `models` of pyproject.toml."""


class SentenceModel:
    """Any model that `SentenceTransformer(NAME)` loads, such as the small but good `all-MiniLM-L6-v2`."""

    remote = False

    def __init__(self, model: str) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._loaded: Any = None

    @property
    def name(self) -> str:
        return f"sentence-transformers/{self._model}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self.vectors(texts)
        if all_invalid(vectors):
            public = "the model's vectors are no numbers"
            raise EmbeddingError(f"{self.name}: its vectors are no numbers", public_message=public)
        return unit(vectors)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors before `embed` scales them to length one. A broken model gives NaN."""
        # The library's documentation does not say whether several threads may call it at once.
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            try:
                return np.asarray(
                    self._loaded.encode(list(texts), convert_to_numpy=True, show_progress_bar=False), dtype=np.float32
                )
            except Exception as failure:
                raise EmbeddingError(f"{self.name}: {failure}", public_message="the model failed") from failure

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(self._model)
        except ImportError as failure:
            command = pip_install(PACKAGE)
            raise EmbeddingError(
                f"sentence-transformers is not installed: {command}, or choose another model",
                public_message="sentence-transformers is not installed",
            ) from failure
        except Exception as failure:
            public = "the model could not be loaded"
            raise EmbeddingError(f"{self.name} could not be loaded: {failure}", public_message=public) from failure


NONE, DEFAULT = "none", "wordllama"


def choose_embedder(model: str = DEFAULT, url: str = "", key: str = "") -> Embedder | None:
    """The host's model, not loaded yet. Without `url`, a local model. None if `model` is `none`."""
    if model == NONE:
        return None
    if url:
        # Import late, because the HTTP library takes a while to import.
        from bot.search.embedding.remote import RemoteModel

        return RemoteModel(url, model, key)
    return WordLlama() if model == DEFAULT else SentenceModel(model)


@cache
def default_model() -> Embedder:
    return WordLlama()


def fast_model(model: Embedder | None) -> Embedder | None:
    """A model that embeds a few hundred texts quickly: the default model if `model` is slow or remote, else `model`."""
    slow = isinstance(model, SentenceModel) or (model is not None and model.remote)
    return default_model() if slow else model
