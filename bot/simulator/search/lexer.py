"""Cuts a query into words, quoted phrases, qualifiers, operators and parentheses, in one pass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

# Matching takes linear time: a stretch of text can match in only one way, and is scanned a fixed number of times.
_LEXEME = re.compile(
    r"""(?P<open>\() | (?P<close>\))
      | (?P<minus>-?)(?P<name>[A-Za-z][A-Za-z-]*):(?P<value>(?:"[^"]*"|[^\s()"])+)
      | "(?P<phrase>[^"]*)"
      | (?P<word>[^\s()"]+)""",
    re.VERBOSE,
)
_VALUE = re.compile(r'"([^"]*)"|([^",]+)')
_OPERATORS = frozenset({"AND", "OR", "NOT"})


class Kind(Enum):
    WORD = auto()
    PHRASE = auto()
    QUALIFIER = auto()
    OPERATOR = auto()
    OPEN = auto()
    CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A piece of a query; `text` is a word, a phrase without quotes, a qualifier's name, an operator or parenthesis."""

    kind: Kind
    text: str
    values: tuple[str, ...] = ()
    negated: bool = False


def lex(query: str, names: frozenset[str]) -> list[Lexeme]:
    """The lexemes of a query. `names` are the known qualifiers; as on GitHub, any other word with a colon is text.

    An unpaired quotation mark is dropped; a qualifier without a value is text. A minus negates only qualifiers, so
    `-word` means the word; NOT negates words (GitHub's "Understanding the search syntax").
    """
    lexemes: list[Lexeme] = []
    for match in _LEXEME.finditer(query):
        name = (match["name"] or "").lower()
        values = tuple(quoted or plain for quoted, plain in _VALUE.findall(match["value"] or "") if quoted or plain)
        if match["open"]:
            lexemes.append(Lexeme(Kind.OPEN, "("))
        elif match["close"]:
            lexemes.append(Lexeme(Kind.CLOSE, ")"))
        elif name in names and values:
            lexemes.append(Lexeme(Kind.QUALIFIER, name, values, bool(match["minus"])))
        elif match["phrase"] is not None:
            lexemes.append(Lexeme(Kind.PHRASE, match["phrase"]))
        elif match["word"] in _OPERATORS:
            lexemes.append(Lexeme(Kind.OPERATOR, match["word"]))
        elif match["word"] or match["name"]:
            lexemes.append(Lexeme(Kind.WORD, match[0]))
    return lexemes
