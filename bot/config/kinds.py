"""What a setting can be: each kind reads a node of the file, and says to editors and to people what it takes.

A kind that cannot use what it was given notes a problem and answers `UNUSABLE`; the setting then keeps its default.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Several
from dataclasses import dataclass, replace
from typing import Any, Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.config.model import ConfigError, Quote
from bot.config.tree import Mapping, Node, Scalar, Sequence, printable
from bot.likelihood import HIGHEST
from bot.words import Words, english

UNUSABLE: Final = object()
"""What a kind answers where there is nothing that could be used."""

_SWITCHES = ("on", "off", "yes", "no")
_DAYS = "[1-9][0-9]?d"

JSON = dict[str, Any]
Problems = list[ConfigError]


class Kind(ABC):
    """One kind of value."""

    @abstractmethod
    def read(self, node: Node, problems: Problems) -> Any:
        """The value for the settings, or UNUSABLE after noting why."""

    @abstractmethod
    def schema(self) -> JSON:
        """The same rule for editors, in JSON Schema's words."""

    @abstractmethod
    def wants(self, say: Words, code: Quote) -> str:
        """What can be written: "a number from 0 to 1". Words that are to be written as they are go through `code`."""

    @property
    def words(self) -> str:
        """The same for the documentation."""
        return self.wants(english(), lambda word: f"`{word}`")

    def refuse(self, node: Node, problems: Problems, hint: str = "") -> Any:
        """Note that the node is not what this kind takes."""

        def says(say: Words, quote: Quote) -> str:
            return say.wrong_value(value=_what(node, say, quote), wanted=self.wants(say, str))

        problems.append(ConfigError.saying(node.line, node.column, says, hint))
        return UNUSABLE


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words. Where `off` is one of them, YAML 1.1's reading of it as `false` is taken as well."""

    choices: tuple[str, ...]

    def read(self, node: Node, problems: Problems) -> Any:
        value = _as_switch(node)
        if value is False and "off" in self.choices:
            return "off"
        if isinstance(value, str) and value in self.choices:
            return value
        return self.refuse(node, problems, nearest(str(value), self.choices) if isinstance(value, str) else "")

    def schema(self) -> JSON:
        if "off" not in self.choices:
            return {"enum": list(self.choices)}
        return {"anyOf": [{"enum": [*self.choices, False]}, _also_spelt("off")]}

    def wants(self, say: Words, code: Quote) -> str:
        return _either([code(choice) for choice in self.choices], say)


@dataclass(frozen=True)
class Switch(Kind):
    """On or off. YAML 1.1 reads `on`, `yes` and their opposites as booleans, YAML 1.2 as words: all are taken."""

    def read(self, node: Node, problems: Problems) -> Any:
        value = _as_switch(node)
        if isinstance(value, str) and value in _SWITCHES:
            return value in ("on", "yes")
        return value if isinstance(value, bool) else self.refuse(node, problems)

    def schema(self) -> JSON:
        return {"anyOf": [{"enum": [True, False, *_SWITCHES]}, _also_spelt(*_SWITCHES)]}

    def wants(self, say: Words, code: Quote) -> str:
        return _either([code("on"), code("off")], say)


@dataclass(frozen=True)
class Number(Kind):
    """A number between two bounds, both included."""

    least: float
    most: float

    def read(self, node: Node, problems: Problems) -> Any:
        value = _within(self.least, self.most, node)
        return self.refuse(node, problems) if value is None else float(value)

    def schema(self) -> JSON:
        return {"type": "number", "minimum": self.least, "maximum": self.most}

    def wants(self, say: Words, code: Quote) -> str:
        return say.wants_number(least=f"{self.least:g}", most=f"{self.most:g}")


@dataclass(frozen=True)
class Probability(Kind):
    """From which probability on something is done. One that is never reached is told and holds all the same: whoever
    wrote it wants silence.
    """

    def read(self, node: Node, problems: Problems) -> Any:
        value = _within(0, 1, node)
        if value is None:
            # Somebody who writes 30 where a share is wanted means 30 %.
            percent = _within(1, 100 * HIGHEST, node)
            return self.refuse(node, problems, "" if percent is None else f"{percent / 100:g}")
        if value > HIGHEST:
            written = f"{value:g}"
            problems.append(
                ConfigError.saying(
                    node.line, node.column, lambda say, _: say.never_reached(value=written, highest=f"{HIGHEST:g}")
                )
            )
        return float(value)

    def schema(self) -> JSON:
        return {"type": "number", "minimum": 0, "maximum": HIGHEST}

    def wants(self, say: Words, code: Quote) -> str:
        return say.wants_number(least="0", most=f"{HIGHEST:g}")


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number between two bounds, both included."""

    least: int
    most: int

    def read(self, node: Node, problems: Problems) -> Any:
        value = _within(self.least, self.most, node)
        return self.refuse(node, problems) if value is None or value != int(value) else int(value)

    def schema(self) -> JSON:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def wants(self, say: Words, code: Quote) -> str:
        return say.wants_whole(least=str(self.least), most=str(self.most))


@dataclass(frozen=True)
class Text(Kind):
    """A text of bounded length; `pattern` (matched as a whole, and understood by JSON Schema too) narrows it."""

    what: Callable[[Words], str]
    most: int
    pattern: str = ""

    def read(self, node: Node, problems: Problems) -> Any:
        value = node.value if isinstance(node, Scalar) else None
        if not isinstance(value, str):
            # A label called 1.0 is a number to YAML.
            quoted = isinstance(node, Scalar) and value is not None
            return self.refuse(node, problems, f'"{node.text[:40]}"' if quoted and isinstance(node, Scalar) else "")
        if not 1 <= len(value) <= self.most or (self.pattern and not re.fullmatch(self.pattern, value)):
            return self.refuse(node, problems)
        return value

    def schema(self) -> JSON:
        pattern = {"pattern": f"^{self.pattern}$"} if self.pattern else {}
        return {"type": "string", "minLength": 1, "maxLength": self.most, **pattern}

    def wants(self, say: Words, code: Quote) -> str:
        what = self.what(say)
        return what if self.pattern else say.wants_text(what=what, most=self.most)


@dataclass(frozen=True)
class Many(Kind):
    """A list. Items that are wrong are noted and left out; the others count, each once."""

    item: Kind
    plural: Callable[[Words], str]
    most: int

    def read(self, node: Node, problems: Problems) -> Any:
        if not isinstance(node, Sequence):
            return self.refuse(node, problems, self._as_list(node) if isinstance(node, Scalar) else "")
        if len(node.items) > self.most:
            counted, most = len(node.items), self.most
            problems.append(
                ConfigError.saying(node.line, node.column, lambda say, _: say.list_too_long(count=counted, most=most))
            )
        values = (self.item.read(item, problems) for item in node.items[: self.most])
        return tuple(dict.fromkeys(value for value in values if value is not UNUSABLE))

    def _as_list(self, node: Scalar) -> str:
        """How to write as a list what stands there without brackets; empty where that would not do either."""
        if not node.text or node.text != printable(node.text) or re.search(r'["\\]', node.text):
            return ""
        items = [self._as_item(replace(node, text=piece.strip())) for piece in node.text.split(",")]
        return f"[{', '.join(items)}]" if all(items) else ""

    def _as_item(self, node: Scalar) -> str:
        for plain, written in ((False, f'"{node.text}"'), (True, node.text)):
            if self.item.read(replace(node, plain=plain), []) is not UNUSABLE:
                return written
        return ""

    def schema(self) -> JSON:
        return {"type": "array", "items": self.item.schema(), "maxItems": self.most}

    def wants(self, say: Words, code: Quote) -> str:
        return say.wants_list(most=self.most, what=self.plural(say))


@dataclass(frozen=True)
class Days(Kind):
    """A number of days from `1d` to `99d`, or `off`."""

    def read(self, node: Node, problems: Problems) -> Any:
        value = _as_switch(node)
        if value is False or value == "off":
            return None
        if isinstance(value, str) and re.fullmatch(_DAYS, value):
            return int(value[:-1])
        number = re.fullmatch("([1-9][0-9]?)(?: ?days?)?", node.text) if isinstance(node, Scalar) else None
        return self.refuse(node, problems, f"{number[1]}d" if number else "")

    def schema(self) -> JSON:
        days = {"type": "string", "pattern": f"^{_DAYS}$"}
        return {"anyOf": [{"enum": ["off", False]}, _also_spelt("off"), days]}

    def wants(self, say: Words, code: Quote) -> str:
        return say.wants_days(off=code("off"), least=code("1d"), most=code("99d"))


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or nothing where none is near.

    Edit distance with transpositions: that is what slips of the fingers are made of.
    """
    found = process.extractOne(
        word[:60].lower(), list(known), scorer=OSA.normalized_similarity, score_cutoff=0.6, processor=str.lower
    )
    return str(found[0]) if found else ""


def _within(least: float, most: float, node: Node) -> float | None:
    """The number that stands there, if it is one between the two, both included."""
    value = node.value if isinstance(node, Scalar) else None
    # A boolean is an int to Python.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        return None
    return value


def _as_switch(node: Node) -> Any:
    """The value of a node; a word for on and off in small letters where it stands in one of YAML 1.1's spellings."""
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, str) and value in {form for word in _SWITCHES for form in _other_spellings(word)}:
        return value.lower()
    return value


def _other_spellings(word: str) -> tuple[str, str]:
    return word.capitalize(), word.upper()


def _also_spelt(*words: str) -> JSON:
    """Apart from the words themselves, which alone an editor offers."""
    spellings = "|".join(form for word in words for form in _other_spellings(word))
    return {"type": "string", "pattern": f"^(?:{spellings})$"}


def _either(words: Several[str], say: Words) -> str:
    return say.either(first=say.comma().join(words[:-1]), last=words[-1])


def _what(node: Node, say: Words, quote: Quote) -> str:
    """How a message speaks of what stands in the file."""
    if isinstance(node, Mapping):
        return say.a_mapping()
    if isinstance(node, Sequence):
        return say.a_list()
    if not node.text:
        return say.no_value()
    return say.quoted(value=quote(printable(node.text))) if isinstance(node.value, str) else quote(node.text)
