"""What a setting can be: each kind reads a node of the file, and says to editors and to people what it takes.

A kind that cannot use what it was given notes a problem and answers `UNUSABLE`; the setting then keeps its default.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import Any, Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.config.model import ConfigError
from bot.config.tree import Mapping, Node, Scalar, Sequence, printable

UNUSABLE: Final = object()
"""What a kind answers where there is nothing that could be used."""

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

    @property
    @abstractmethod
    def words(self) -> str:
        """What can be written, for the documentation and for messages: "a number from 0 to 1"."""

    def refuse(self, node: Node, problems: Problems, hint: str = "") -> Any:
        """Note that the node is not what this kind takes."""
        # Backticks are for the documentation; a terminal shows them as they are.
        message = f"{_what(node)} is not {self.words.replace('`', '')}"
        problems.append(ConfigError(node.line, node.column, message, hint))
        return UNUSABLE


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words. Where `off` is one of them, YAML 1.1's reading of it as `false` is taken as well."""

    choices: tuple[str, ...]

    def read(self, node: Node, problems: Problems) -> Any:
        value = node.value if isinstance(node, Scalar) else None
        if value is False and "off" in self.choices:
            return "off"
        if isinstance(value, str) and value in self.choices:
            return value
        return self.refuse(node, problems, nearest(str(value), self.choices) if isinstance(value, str) else "")

    def schema(self) -> JSON:
        return {"enum": [*self.choices, *([False] if "off" in self.choices else [])]}

    @property
    def words(self) -> str:
        return _either([f"`{choice}`" for choice in self.choices])


@dataclass(frozen=True)
class Switch(Kind):
    """On or off. YAML 1.1 reads `on`, `yes` and their opposites as booleans, YAML 1.2 as words: all are taken."""

    def read(self, node: Node, problems: Problems) -> Any:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, str) and value in ("on", "off", "yes", "no"):
            return value in ("on", "yes")
        return value if isinstance(value, bool) else self.refuse(node, problems)

    def schema(self) -> JSON:
        return {"enum": [True, False, "on", "off", "yes", "no"]}

    @property
    def words(self) -> str:
        return "`on` or `off`"


@dataclass(frozen=True)
class Number(Kind):
    """A number between two bounds, both included."""

    least: float
    most: float

    def read(self, node: Node, problems: Problems) -> Any:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.least <= value <= self.most:
            return self.refuse(node, problems)
        return float(value)

    def schema(self) -> JSON:
        return {"type": "number", "minimum": self.least, "maximum": self.most}

    @property
    def words(self) -> str:
        return f"a number from {self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number between two bounds, both included."""

    least: int
    most: int

    def read(self, node: Node, problems: Problems) -> Any:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.least <= value <= self.most:
            return self.refuse(node, problems)
        return int(value) if value == int(value) else self.refuse(node, problems)

    def schema(self) -> JSON:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    @property
    def words(self) -> str:
        return f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True)
class Text(Kind):
    """A text of bounded length; `pattern` (matched as a whole, and understood by JSON Schema too) narrows it."""

    what: str
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

    @property
    def words(self) -> str:
        return f"{self.what} of at most {self.most} characters" if not self.pattern else self.what


@dataclass(frozen=True)
class Many(Kind):
    """A list. Items that are wrong are noted and left out; the others count."""

    item: Kind
    plural: str
    most: int

    def read(self, node: Node, problems: Problems) -> Any:
        if not isinstance(node, Sequence):
            return self.refuse(node, problems)
        if len(node.items) > self.most:
            message = f"this list has {len(node.items)} items; the first {self.most} count"
            problems.append(ConfigError(node.line, node.column, message))
        values = (self.item.read(item, problems) for item in node.items[: self.most])
        return tuple(value for value in values if value is not UNUSABLE)

    def schema(self) -> JSON:
        return {"type": "array", "items": self.item.schema(), "maxItems": self.most}

    @property
    def words(self) -> str:
        return f"a list of at most {self.most} {self.plural}"


@dataclass(frozen=True)
class Days(Kind):
    """A number of days such as `7d`, or `off`."""

    most: int = 99

    def read(self, node: Node, problems: Problems) -> Any:
        value = node.value if isinstance(node, Scalar) else None
        if value is False or value == "off":
            return None
        if isinstance(value, str) and re.fullmatch("[1-9][0-9]?d", value):
            return int(value[:-1])
        return self.refuse(node, problems)

    def schema(self) -> JSON:
        return {"anyOf": [{"enum": ["off", False]}, {"type": "string", "pattern": "^[1-9][0-9]?d$"}]}

    @property
    def words(self) -> str:
        return f"`off` or a number of days from `1d` to `{self.most}d`"


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, or nothing where none is near.

    Edit distance with transpositions: that is what slips of the fingers are made of.
    """
    found = process.extractOne(
        word[:60].lower(), list(known), scorer=OSA.normalized_similarity, score_cutoff=0.6, processor=str.lower
    )
    return str(found[0]) if found else ""


def _either(words: Several[str]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1]


def _what(node: Node) -> str:
    """How a message speaks of what stands in the file."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if not node.text:
        return "nothing"
    return f'"{printable(node.text)}"' if isinstance(node.value, str) else node.text
