"""What the index wants to know of a text: the terms of its fields, and what is embedded."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

# Bytes of a term's hash.
_HASH = 8


@dataclass(frozen=True, slots=True)
class Field:
    """A kind of evidence. In how many issues each of its terms occurs is counted for the field by itself.

    A `posted` field can be searched. In fields of the same `space` equal terms have equal numbers, so that the title of
    one issue can be compared with the body of another.
    """

    name: str
    posted: bool = False
    space: str = "words"


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text as terms: how often each occurs, by the field's name. `title` and `text` are what is embedded."""

    terms: Mapping[str, Mapping[str, int]]
    title: str = ""
    text: str = ""


class Analyser(Protocol):
    """How issues are read."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """Stored by position: new ones go to the end, and none may be taken away without indexing anew."""
        ...

    @property
    def lines(self) -> str:
        """The field that counts whole lines, by which what a form supplies is recognised; empty if there is none."""
        ...

    def lines_of(self, body: str) -> Collection[str]:
        """The lines to be counted, each once; the terms of that field."""
        ...

    def read(self, title: str, body: str, supplied: Callable[[str], bool]) -> Analysis:
        """Read an issue. `supplied` tells of a line whether so many issues have it that it is no evidence."""
        ...


def hashes(space: str, terms: Iterable[str]) -> list[int]:
    """The terms' names in the database: 64 bits, signed; nobody can make two terms collide on purpose."""
    begun = hashlib.blake2b(digest_size=_HASH, person=space.encode()[:16])
    digests = []
    for term in terms:
        digest = begun.copy()
        digest.update(term.encode("utf-8", "surrogatepass"))
        digests.append(digest.digest())
    return list(struct.unpack(f"<{len(digests)}q", b"".join(digests)))
