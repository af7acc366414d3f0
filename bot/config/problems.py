"""What is wrong with a settings file: where it stands, what it is, and what was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.words import Words, english

Quote = Callable[[str], str]
"""Makes a piece of the file, or a word that is to be written into it, fit to be shown."""

Says = Callable[[Words, Quote], str]


@dataclass(frozen=True, slots=True)
class ConfigError:
    """One thing that is wrong with a settings file.

    `line` and `column` count from 1, as editors do. `hint` is the nearest valid key or word, empty where nothing is
    near. `message` is English and may quote the file; `in_words` says the same in another language, as Markdown, say.
    """

    line: int
    column: int
    message: str
    hint: str = ""
    says: Says | None = field(default=None, compare=False, repr=False)

    @classmethod
    def saying(cls, line: int, column: int, says: Says, hint: str = "") -> ConfigError:
        """A problem that can be told in every language."""
        return cls(line, column, says(english(), str), hint, says)

    def in_words(self, say: Words, quote: Quote) -> str:
        """The message; what it quotes of the file goes through `quote`."""
        return self.says(say, quote) if self.says else quote(self.message)

    def to_json(self) -> dict[str, object]:
        """For programs."""
        return {"line": self.line, "column": self.column, "message": self.message, "hint": self.hint}

    def __str__(self) -> str:
        hint = f" (did you mean {self.hint}?)" if self.hint else ""
        return f"line {self.line}, column {self.column}: {self.message}{hint}"


def printable(text: str, most: int = 60) -> str:
    """A piece of the file on one line, short and without anything that a terminal would obey."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[:most])
    return shown + ("…" if len(text) > most else "")


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or nothing where none is near.

    Edit distance with transpositions: that is what slips of the fingers are made of.
    """
    found = process.extractOne(
        word[:60].lower(), list(known), scorer=OSA.normalized_similarity, score_cutoff=0.6, processor=str.lower
    )
    return str(found[0]) if found else ""
