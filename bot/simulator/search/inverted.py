"""The inverted index of one field: how often each document contains a term, and each document's terms in order."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable

from bot.simulator.search.analysis import Vocabulary, tokens

# Separates two comments, so that no phrase spans both. No term has the number 0.
_BORDER = 0
_WIDTH = array("I").itemsize


class FieldIndex:
    """Postings (term → document → occurrences), and the sequences of terms in which phrases are searched."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._sequences: dict[int, bytes] = {}
        self.postings: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self.lengths: dict[int, int] = {}
        self.total_length = 0

    def put(self, document: int, texts: Iterable[str]) -> None:
        """Index a document that this field does not contain yet."""
        number_of_word = self._vocabulary.__getitem__  # Gives a new word a number.
        sequence: list[int] = []
        for text in texts:
            if sequence:
                sequence.append(_BORDER)
            sequence.extend(map(number_of_word, tokens(text)))
        if not sequence:
            return
        self._sequences[document] = array("I", sequence).tobytes()
        self.lengths[document] = len(sequence)
        self.total_length += len(sequence)
        counts = Counter(sequence)
        counts.pop(_BORDER, None)
        postings = self.postings
        for term, count in counts.items():
            postings[term][document] = count

    def remove(self, document: int) -> None:
        """Remove a document, if the field contains it."""
        sequence = self._sequences.pop(document, None)
        if sequence is None:
            return
        self.total_length -= self.lengths.pop(document)
        for term in set(memoryview(sequence).cast("I")) - {_BORDER}:
            documents = self.postings[term]
            del documents[document]
            if not documents:
                del self.postings[term]

    def __len__(self) -> int:
        """How many documents have text in this field."""
        return len(self._sequences)

    def has_phrase(self, document: int, phrase: bytes) -> bool:
        """Whether the terms of `phrase` (see `pack`) stand side by side in the document."""
        sequence = self._sequences.get(document, b"")
        position = sequence.find(phrase)
        # A hit that begins inside a term's bytes is a coincidence.
        while position >= 0 and position % _WIDTH:
            position = sequence.find(phrase, position + 1)
        return position >= 0


def pack(terms: Iterable[int]) -> bytes:
    """Terms in the form that `has_phrase` takes."""
    return array("I", terms).tobytes()
