"""Reads a stranger's YAML into a tree with positions, and describes errors with hints.

The reader uses ruamel's events rather than its loaders. It constructs no objects, limits the depth, notices duplicate
keys, and keeps the keys before a syntax error. It refuses tags and aliases, as a few aliases can stand for gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz import process
from rapidfuzz.distance import OSA
from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from bot.conversation.messages.catalogue import Messages, english

Quote = Callable[[str], str]
"""Formats part of the file, or a literal word, for display."""

Wording = Callable[[Messages, Quote], str]
"""Writes an error's message in the language of these `Messages`."""


@dataclass(frozen=True, slots=True)
class ConfigError:
    """One error in a settings file.

    `line` and `column` count from 1. `hint` is the nearest valid key or word, if any. `message` is English and may
    quote the file; `text_in` translates the message.
    """

    line: int
    column: int
    message: str
    hint: str = ""
    wording: Wording | None = field(default=None, compare=False, repr=False)

    @classmethod
    def translatable(cls, line: int, column: int, wording: Wording, hint: str = "") -> ConfigError:
        """An error whose message exists in every language."""
        return cls(line, column, wording(english(), str), hint, wording)

    def text_in(self, say: Messages, quote: Quote) -> str:
        """The message in another language. `quote` formats the parts of the file that the message quotes."""
        return self.wording(say, quote) if self.wording else quote(self.message)

    def to_json(self) -> dict[str, object]:
        return {"line": self.line, "column": self.column, "message": self.message, "hint": self.hint}

    def __str__(self) -> str:
        hint = f" (did you mean {self.hint}?)" if self.hint else ""
        return f"line {self.line}, column {self.column}: {self.message}{hint}"


def printable(text: str, most: int = 60) -> str:
    """Part of the file on one short line, without control characters."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[:most])
    return shown + ("…" if len(text) > most else "")


def nearest(word: str, known: Iterable[str]) -> str:
    """The most similar known word, by edit distance with transpositions; empty if no known word is similar."""
    found = process.extractOne(
        word[:60].lower(), list(known), scorer=OSA.normalized_similarity, score_cutoff=0.6, processor=str.lower
    )
    return str(found[0]) if found else ""


SIZE_MAX = 64 * 1024
"""The most characters in a settings file. The worst file of this size takes the parser two or three seconds."""

_DEPTH_MAX = 8
# `12`, `-0.5`, `.5` or `1e3`; `0x1F` stays a text.
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,18}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?")
_NAMELESS_ALIAS_CONTEXTS = frozenset(("while scanning an alias", "while scanning an anchor"))
_LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(slots=True)
class YamlNode:
    """A scalar, list or mapping with its position. `text` is a scalar's text; `keys` are a mapping's keys as nodes."""

    line: int
    column: int
    value: Any
    text: str = ""
    keys: dict[str, YamlNode] = field(default_factory=dict)

    def plain(self) -> Any:
        """Values without positions. A null or empty value becomes Ellipsis, which no setting accepts."""
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        return Ellipsis if self.value is None else self.value


def scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar, nearly as in YAML 1.2's core rules: `on`, `off`, `yes` and `no` are words."""
    if text.lower() in _LITERALS:
        return _LITERALS[text.lower()]
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text)
    return int(number) if number.is_integer() else number


def read_tree(text: str, *, strict: bool = True) -> tuple[YamlNode, list[ConfigError]]:
    """Read a settings file; an empty file is an empty mapping. Never raises.

    If an error ends the reading, the mapping holds the top-level keys that were complete before. Read files that are
    not settings without `strict`: then the reader ignores anchors and tags, and reads an alias as an empty value.
    """
    reader = _Reader(strict)
    try:
        if len(text) > SIZE_MAX:
            raise _RefusedYaml(1, 1, lambda say: say.file_too_long(most=str(SIZE_MAX)))
        reader.read(text)
    except _RefusedYaml as refused:
        reader.errors.append(refused.error)
    except MarkedYAMLError as error:
        reader.errors.append(_syntax_error(error))
    except (YAMLError, ValueError, OverflowError) as error:
        # For forbidden characters the parser gives an offset but no line; for impossible escapes it gives neither.
        before = text[: getattr(error, "position", 0)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        reader.errors.append(ConfigError.translatable(line, column, lambda say, _: say.no_yaml_character()))
    return reader.root, reader.errors


class _RefusedYaml(Exception):
    """The file is too long or too deep, is not a mapping, or uses YAML that settings do not need."""

    def __init__(self, line: int, column: int, sentence: Callable[[Messages], str]) -> None:
        super().__init__()
        self.error = ConfigError.translatable(line, column, lambda say, _: sentence(say))


def _refused_at(event: Any, sentence: Callable[[Messages], str]) -> _RefusedYaml:
    return _RefusedYaml(event.start_mark.line + 1, event.start_mark.column + 1, sentence)


def _syntax_error(error: MarkedYAMLError) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    if error.context in _NAMELESS_ALIAS_CONTEXTS:
        # People write titles as `[Bug]*` or `*[Bug]*`, which the parser takes for an alias without a name.
        mark = error.context_mark or mark
        return ConfigError.translatable(mark.line + 1, mark.column + 1, lambda say, _: say.anchors())
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    # The parser's message may quote the file.
    problem = printable(str(error.problem or error.context), 200)
    return ConfigError.translatable(line, column, lambda say, quote: say.no_yaml(problem=quote(problem)))


def _duplicate_key(key: YamlNode, line: int) -> ConfigError:
    return ConfigError.translatable(key.line, key.column, lambda say, _: say.key_twice(line=line))


class _Reader:
    """Reads the events of one file; `root` receives each top-level key as soon as its value is complete."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.root = YamlNode(1, 1, {})
        self.errors: list[ConfigError] = []
        self.events: Iterator[Any] = iter(())

    def read(self, text: str) -> None:
        self.events = iter(YAML(typ="safe", pure=True).parse(text))
        documents = 0
        for event in self.events:
            if isinstance(event, events.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _refused_at(event, lambda say: say.several_documents())
            elif isinstance(event, events.MappingStartEvent):
                self.check(event)
                self.mapping(1, self.root)
            elif isinstance(event, events.ScalarEvent) and not event.value and event.style is None:
                # The file holds only comments, or nothing follows its `---`.
                self.check(event)
            elif isinstance(event, (events.ScalarEvent, events.SequenceStartEvent, events.AliasEvent)):
                raise _refused_at(event, lambda say: say.no_mapping())

    def node(self, event: Any, depth: int) -> YamlNode:
        self.check(event)
        if depth > _DEPTH_MAX:
            raise _refused_at(event, lambda say: say.too_deep())
        node = YamlNode(event.start_mark.line + 1, event.start_mark.column + 1, None)
        if isinstance(event, events.ScalarEvent):
            # An escape can produce a lone surrogate, which databases and requests reject.
            node.text = event.value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            node.value = scalar(node.text) if event.style is None else node.text
        elif isinstance(event, events.SequenceStartEvent):
            node.value = []
            while not isinstance(item := next(self.events), events.SequenceEndEvent):
                node.value.append(self.node(item, depth + 1))
        elif isinstance(event, events.MappingStartEvent):
            self.mapping(depth, node)
        return node

    def mapping(self, depth: int, into: YamlNode) -> None:
        """Read key by key into a node, so that the node keeps the earlier keys when a later key is wrong."""
        into.value = {}
        while not isinstance(event := next(self.events), events.MappingEndEvent):
            key = self.node(event, depth + 1)
            if isinstance(key.value, (list, dict)):
                raise _refused_at(event, lambda say: say.key_no_word())
            child = self.node(next(self.events), depth + 1)
            if child.value is None and not child.text:
                # The parser places a missing value at the next token, perhaps lines below. Place it after its key.
                child.line, child.column = event.end_mark.line + 1, event.end_mark.column + 2
            if first := into.keys.get(key.text):
                self.errors.append(_duplicate_key(key, first.line))
                continue
            into.keys[key.text], into.value[key.text] = key, child

    def check(self, event: Any) -> None:
        """Refuse anchors, aliases and tags."""
        if self.strict and (isinstance(event, events.AliasEvent) or event.anchor is not None):
            raise _refused_at(event, lambda say: say.anchors())
        if self.strict and event.tag is not None:
            raise _refused_at(event, lambda say: say.tags())
