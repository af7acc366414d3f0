"""What the index wants to know of a text: the terms of its fields, and what is embedded."""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

#: Lines of one issue that are counted. Never to be changed: `supplied_before` knows by it that there were more.
MOST_LINES = 200
# Bytes of a term's hash.
_HASH = 8


@dataclass(frozen=True, slots=True)
class Field:
    """A kind of evidence. In how many issues each of its terms occurs is counted for the field by itself.

    A `posted` field can be searched. In fields of the same `space` equal terms have equal numbers, so that the title of
    one issue can be compared with the body of another. A `narrow` field never has many of the terms of its space.
    """

    name: str
    posted: bool = False
    space: str = "words"
    narrow: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text as terms: how often each occurs, by the field's name. `title` and `text` are what is embedded."""

    terms: Mapping[str, Mapping[str, int]]
    title: str = ""
    text: str = ""


class Analyser(Protocol):
    """How issues are read."""

    @property
    def version(self) -> int:
        """Raised by one whenever some text has other terms than before, so that what is stored is read again.

        Not for what is embedded: vectors follow the model, and those of an issue whose terms stay the same are kept.
        """
        ...

    @property
    def fields(self) -> tuple[Field, ...]:
        """Stored by position: new ones go to the end, and none may be taken away without indexing anew."""
        ...

    @property
    def lines(self) -> str:
        """The field that counts whole lines, by which what a form supplies is recognised; empty if there is none."""
        ...

    @property
    def supplied(self) -> str:
        """The field of the same space with the lines that were left out of an issue; empty if there is none."""
        ...

    def lines_of(self, body: str) -> Sequence[str]:
        """The lines of a body, all of them, in the form in which they are compared."""
        ...

    def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
        """Read an issue with its `lines_of`. So many issues have those that are `supplied` that they say nothing."""
        ...


def counted(lines: Iterable[str]) -> list[str]:
    """Those of an issue's lines that are counted, each once; the terms of that field."""
    distinct = dict.fromkeys(lines)
    distinct.pop("", None)
    return list(itertools.islice(distinct, MOST_LINES))


def whole(title: str, lines: Iterable[str]) -> str:
    """Title and text together as one more term among the lines: who has it too is a copy, word for word.

    Lines hold no line breaks, so it is none of them.
    """
    return "\n".join([" ".join(title.lower().split()), *lines])


def hashes(space: str, terms: Iterable[str]) -> list[int]:
    """The terms' names in the database: 64 bits, signed; nobody can make two terms collide on purpose."""
    begun = hashlib.blake2b(digest_size=_HASH, person=space.encode()[:16])
    digests = []
    for term in terms:
        digest = begun.copy()
        digest.update(term.encode("utf-8", "surrogatepass"))
        digests.append(digest.digest())
    return list(struct.unpack(f"<{len(digests)}q", b"".join(digests)))
