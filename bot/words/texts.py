"""What a text is: a name, the variables that it is filled with, and what it is for; the words are in a catalogue.

A text is declared as a method without a body, in one of the classes of `bot.words`. Who says it calls the method, so
that mypy knows the text and its variables; what it says in each language stands in a TOML file beside this module, and
`bot.words.catalogue` holds that each has exactly these texts with these variables.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import update_wrapper
from typing import Concatenate, ParamSpec, Self, TypeVar

from bot.words.manner import Manner
from bot.words.template import Template

P = ParamSpec("P")
S = TypeVar("S", bound="Texts")

COUNT = "count"
"""The variable by which the form of a text is chosen: "1 result", "2 results"."""

Forms = Mapping[str, Template]
"""The forms of one text by the name of CLDR's plural category; `other` is always there."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One text as `docs/words.md` lists it."""

    name: str
    variables: tuple[str, ...]
    says: str
    place: str


class Texts:
    """Texts in one language, some of them perhaps in a repository's own words. Immutable.

    `plain` are the same without its own words, for where these take too much room.
    """

    def __init__(self, manner: Manner, forms: Mapping[str, Forms], plain: Self | None = None) -> None:
        self.manner = manner
        self._forms = forms
        self.plain: Self = plain or self

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """A text by its name; whoever knows the name when writing code calls the text's own method instead."""
        forms = self._forms[name]
        count = values.get(COUNT)
        form = self.manner.form(count) if isinstance(count, int) and len(forms) > 1 else "other"
        return forms.get(form, forms["other"]).fill({key: self._shown(value) for key, value in values.items()})

    def _shown(self, value: object) -> str:
        """Numbers, shares and days in the language's manner; texts are Markdown already."""
        if isinstance(value, int):
            return self.manner.number(value)
        if isinstance(value, float):
            return self.manner.percent(value)
        if isinstance(value, datetime):
            return self.manner.moment(value)
        return self.manner.day(value) if isinstance(value, date) else str(value)


def text(declaration: Callable[Concatenate[S, P], None]) -> Callable[Concatenate[S, P], str]:
    """Make a declaration say its text. Values are Markdown, or numbers, shares (`float`), days and moments."""
    name = declaration.__name__
    variables = _variables(declaration)

    def said(self: S, /, *args: P.args, **kwargs: P.kwargs) -> str:
        return self.fill(name, {**dict(zip(variables, args, strict=False)), **kwargs})

    update_wrapper(said, declaration)
    return said


def declared(texts: type[Texts]) -> dict[str, Declared]:
    """Every text that a class and those that it is made of declare, in the order in which they stand there."""
    found: dict[str, Declared] = {}
    for owner in reversed(texts.__mro__):
        place = (inspect.getdoc(owner) or "").rstrip(".")
        for name, member in vars(owner).items():
            declaration = getattr(member, "__wrapped__", None)
            if declaration is not None:
                says = " ".join((inspect.getdoc(declaration) or "").split())
                found[name] = Declared(name, _variables(declaration), says, place)
    return found


def _variables(declaration: Callable[..., None]) -> tuple[str, ...]:
    return tuple(inspect.signature(declaration).parameters)[1:]
