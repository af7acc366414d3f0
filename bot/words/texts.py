"""What a text is: a name, the variables that it is filled with, and what it is for; the words are in a catalogue.

A text is declared in one of the classes of `bot.words`, with its variables as one of the `shapes`. Who says it calls
it, so that mypy knows the text and its variables; what it says in each language stands in a TOML file beside this
module, and `bot.words.catalogue` holds that each has exactly these texts with these variables.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Generic, ParamSpec, Self, overload

from bot.words.template import Template

# Babel is loaded when something is said: most commands say nothing on GitHub.


@lru_cache(maxsize=1_000, typed=True)
def _decimal(number: float, language: str) -> str:
    """Kept, since Babel takes long, and of a file with twenty thousand faults each may name the same line."""
    from babel.numbers import format_decimal

    return str(format_decimal(number, locale=language))


@dataclass(frozen=True)
class Manner:
    """One language. `days` is the pattern in which a day is written, in CLDR's letters (`yyyy-MM-dd`)."""

    language: str
    days: str

    def form(self, count: int) -> str:
        """The plural category of a number: `one`, `many`, `other` …"""
        from babel import Locale

        return str(Locale.parse(self.language).plural_form(count))

    def number(self, number: float) -> str:
        """`1,200` or `2.5`, as the language groups digits and marks decimals, of which it shows three."""
        return _decimal(number, self.language)

    def percent(self, share: float) -> str:
        """A share as people write it. Only certainty is 100%, only impossibility 0%."""
        from babel.numbers import format_percent

        rounded = round(share * 100)
        if rounded == 100 and share < 1:
            rounded = 99
        return str(format_percent((rounded if rounded or share <= 0 else 1) / 100, locale=self.language))

    def day(self, day: date) -> str:
        """A day."""
        from babel.dates import format_date

        return str(format_date(day, self.days, locale=self.language))

    def moment(self, moment: datetime) -> str:
        """A day with the time of day and the zone."""
        return f"{self.day(moment)} {moment.strftime('%H:%M %Z')}".strip()


P = ParamSpec("P")

COUNT = "count"
"""The variable by which the form of a text is chosen: "1 result", "2 results"."""

Forms = Mapping[str, Template]
"""The forms of one text by the name of CLDR's plural category; `other` is always there."""


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


class Text(Generic[P]):
    """One text as it is declared, and as `docs/words.md` lists it: what it `says`, in which `place`."""

    name, place = "", ""

    def __init__(self, says: str, shape: Callable[P, None]) -> None:
        self.says = says
        self.variables = tuple(inspect.signature(shape).parameters)

    def __set_name__(self, owner: type[Texts], name: str) -> None:
        self.name, self.place = name, (owner.__doc__ or "").rstrip(".")

    @overload
    def __get__(self, texts: None, owner: type[Texts]) -> Self: ...
    @overload
    def __get__(self, texts: Texts, owner: type[Texts]) -> Callable[P, str]: ...
    def __get__(self, texts: Texts | None, owner: type[Texts]) -> Self | Callable[P, str]:
        return self if texts is None else partial(self, texts)

    def __call__(self, texts: Texts, /, *args: P.args, **kwargs: P.kwargs) -> str:
        """The text in words. Values are Markdown, or numbers, shares (`float`), days and moments."""
        return texts.fill(self.name, {**dict(zip(self.variables, args, strict=False)), **kwargs})


@overload
def text(says: str) -> Text[[]]: ...
@overload
def text(says: str, shape: Callable[P, None]) -> Text[P]: ...
def text(says: str, shape: Callable[..., None] = lambda: None) -> Text[...]:
    """Declare a text without variables, or with those of a shape."""
    return Text(says, shape)


def declared(texts: type[Texts]) -> dict[str, Text[...]]:
    """Every text that a class and those that it is made of declare, in the order in which they stand there."""
    members = (member for owner in reversed(texts.__mro__) for member in vars(owner).values())
    return {member.name: member for member in members if isinstance(member, Text)}
