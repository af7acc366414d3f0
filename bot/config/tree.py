"""YAML text → a small tree that knows where everything stands, for files that strangers can write.

Read from the parser's events instead of ruamel's loaders: nothing is constructed, aliases (and with them "bombs") and
tags are refused where they stand, depth is bounded before recursion could hurt, duplicate keys are seen, and what was
complete before a syntax error is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from bot.config.model import ConfigError
from bot.words import Words

SIZE_MAX = 64 * 1024
"""Characters in a settings file. The parser needs two or three seconds for the worst file of this size."""

_DEPTH_MAX = 8
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,18}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?")
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
# An escape in double quotes for a character beyond the last one that there is.
_BEYOND = re.compile(r"\\U(?!000[0-9A-Fa-f]|0010)[0-9A-Fa-f]{8}")
_NAMELESS = frozenset(("while scanning an alias", "while scanning an anchor"))
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value. `plain` is whether it stands without quotes; only then it can be a number or a boolean."""

    line: int
    column: int
    text: str
    plain: bool

    @property
    def value(self) -> str | int | float | bool | None:
        """The value by YAML 1.2's core rules, where `on`, `off`, `yes` and `no` are words and no booleans."""
        if not self.plain:
            return self.text
        if self.text.lower() in _WORDS:
            return _WORDS[self.text.lower()]
        if _WHOLE.fullmatch(self.text):
            return int(self.text)
        return float(self.text) if _NUMBER.fullmatch(self.text) else self.text


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    line: int
    column: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in the order of the file; a key stands here once, since the first one counts."""

    line: int
    column: int
    entries: tuple[tuple[Scalar, Node], ...]


Node = Scalar | Sequence | Mapping


def printable(text: str, most: int = 60) -> str:
    """A piece of the file on one line, short and without anything that a terminal would obey."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text[:most])
    return shown + ("…" if len(text) > most else "")


class _Refused(Exception):
    """The file uses something that settings have no need of."""

    def __init__(self, event: Any, says: Callable[[Words], str]) -> None:
        super().__init__()
        mark = event.start_mark
        self.error = ConfigError.saying(mark.line + 1, mark.column + 1, lambda say, _: says(say))


def read_tree(text: str, *, strict: bool = True) -> tuple[Mapping, list[ConfigError]]:
    """Read a settings file; an empty one is an empty mapping. Never raises for any text.

    After an error the mapping holds the top-level keys that were complete before it. Files of another kind are not
    read strictly: anchors and tags mean nothing there, and an alias is an empty value, so that there is still no bomb.
    """
    reader = _Reader(text, strict)
    if len(text) > SIZE_MAX:
        reader.errors.append(ConfigError.saying(1, 1, lambda say, _: say.file_too_long(most=str(SIZE_MAX))))
    else:
        try:
            reader.read()
        except _Refused as refused:
            reader.errors.append(refused.error)
        except MarkedYAMLError as error:
            reader.errors.append(_no_yaml(error))
            reader.drop_run_on(error)
        except YAMLError as error:
            # Characters that YAML does not allow are found before there is any position in lines.
            reader.errors.append(_unreadable(text, getattr(error, "position", 0)))
        except (ValueError, OverflowError):
            # The parser does not look whether there is such a character before it makes it.
            beyond = _BEYOND.search(text)
            reader.errors.append(_unreadable(text, beyond.start() if beyond else 0))
    return Mapping(1, 1, tuple(reader.entries)), reader.errors


def _no_yaml(error: MarkedYAMLError) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    if error.context in _NAMELESS:
        # `[Bug]*` and `*[Bug]*` are what people write for titles, and what the parser misses there is a name.
        mark = error.context_mark or mark
        return ConfigError.saying(mark.line + 1, mark.column + 1, lambda say, _: say.anchors())
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    # The parser's own words may quote the file.
    problem = printable(str(error.problem or error.context), 200)
    return ConfigError.saying(line, column, lambda say, quote: say.no_yaml(problem=quote(problem)))


def _twice(key: Scalar, line: int) -> ConfigError:
    return ConfigError.saying(key.line, key.column, lambda say, _: say.key_twice(line=line))


def _unreadable(text: str, position: int) -> ConfigError:
    before = text[:position]
    line, column = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
    return ConfigError.saying(line, column, lambda say, _: say.no_yaml_character())


def _paired(text: str) -> str:
    """`text` with one character for each two halves, which escapes can name apart as in JSON; U+FFFD for a lone half.

    No database and no request takes halves.
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Reader:
    """One pass over the events of one file; `entries` fills as top-level keys are completed."""

    def __init__(self, text: str, strict: bool) -> None:
        self.text = text
        self.strict = strict
        self.entries: list[tuple[Scalar, Node]] = []
        self.errors: list[ConfigError] = []
        self.events: Iterator[Any] = iter(())
        # The last line, counted from 0, of the last top-level key's value, where that goes on over lines unquoted.
        self.run_on: int | None = None

    def read(self) -> None:
        self.events = iter(YAML(typ="safe", pure=True).parse(self.text))
        documents = 0
        for event in self.events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _Refused(event, Words.several_documents)
            elif isinstance(event, MappingStartEvent):
                self.check(event)
                self.mapping(1, self.entries)
            elif isinstance(event, ScalarEvent) and not event.value and event.style is None:
                # A file of comments alone, or one that says nothing after its dashes.
                self.check(event)
            elif isinstance(event, (ScalarEvent, SequenceStartEvent, AliasEvent)):
                raise _Refused(event, Words.no_mapping)

    def node(self, event: Any, depth: int) -> Node:
        self.check(event)
        if depth > _DEPTH_MAX:
            raise _Refused(event, Words.too_deep)
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, AliasEvent):
            return Scalar(line, column, "", plain=True)
        if isinstance(event, ScalarEvent):
            return Scalar(line, column, _paired(event.value), plain=event.style is None)
        if isinstance(event, SequenceStartEvent):
            items: list[Node] = []
            while not isinstance(item := next(self.events), SequenceEndEvent):
                items.append(self.node(item, depth + 1))
            return Sequence(line, column, tuple(items))
        entries: list[tuple[Scalar, Node]] = []
        self.mapping(depth, entries)
        return Mapping(line, column, tuple(entries))

    def mapping(self, depth: int, entries: list[tuple[Scalar, Node]]) -> None:
        """Read key by key into `entries`, so that an error further on leaves the earlier ones there."""
        first: dict[str, int] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            key = self.node(event, depth + 1)
            if not isinstance(key, Scalar):
                raise _Refused(event, Words.key_no_word)
            begin = next(self.events)
            value = self.node(begin, depth + 1)
            if isinstance(value, Scalar) and value.plain and not value.text:
                # The parser places what is missing where the next thing stands, which can be lines further down.
                value = replace(value, line=event.end_mark.line + 1, column=event.end_mark.column + 2)
            self.run_on = None
            if key.text in first:
                self.errors.append(_twice(key, first[key.text]))
            else:
                first[key.text] = key.line
                entries.append((key, value))
                several_lines = begin.end_mark.line > begin.start_mark.line
                if depth == 1 and isinstance(value, Scalar) and value.plain and several_lines:
                    self.run_on = begin.end_mark.line

    def drop_run_on(self, error: MarkedYAMLError) -> None:
        """Drop a value that goes on into the line of the mistake, which was to be a line of its own."""
        if self.run_on is not None and error.problem_mark and error.problem_mark.line == self.run_on:
            self.entries.pop()

    def check(self, event: Any) -> None:
        """Refuse what settings have no need of and what bombs are made of."""
        if not self.strict:
            return
        if isinstance(event, AliasEvent) or event.anchor is not None:
            raise _Refused(event, Words.anchors)
        if event.tag is not None:
            raise _Refused(event, Words.tags)
