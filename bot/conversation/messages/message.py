"""Declares messages: each has a name, variables and a purpose. A catalogue has its text in each language.

A class attribute declares a message, with its variables as one of the functions in `variables`. Callers call it like a
method, so mypy checks its name and its variables. `catalogue` checks that each language's file has exactly these.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Generic, ParamSpec, Self, overload

from bot.conversation.messages.template import Template

# Babel is imported on first use, because most commands need no texts.


@lru_cache(maxsize=1_000, typed=True)
def _decimal(number: float, language: str) -> str:
    """Cached: Babel is slow, and a hostile file can have thousands of errors."""
    from babel.numbers import format_decimal

    return str(format_decimal(number, locale=language))


@dataclass(frozen=True)
class Locale:
    """One language, with its pattern for days in CLDR's letters (`yyyy-MM-dd`)."""

    language: str
    days: str

    def form(self, count: int) -> str:
        """The plural category of a number: `one`, `many`, `other` …"""
        from babel import Locale

        return str(Locale.parse(self.language).plural_form(count))

    def number(self, number: float) -> str:
        """`1,200` or `2.5` in the language's notation, with up to three decimals."""
        return _decimal(number, self.language)

    def percent(self, share: float) -> str:
        """A share in percent, rounded to 1% to 99% unless it is exactly 0 or 1."""
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
"""The variable that chooses the plural form: "1 result", "2 results"."""

Forms = Mapping[str, Template]
"""The forms of a message by CLDR's plural categories; `other` is always there."""


class MessageGroup:
    """Messages in one language, some perhaps a repository's own. Immutable.

    `plain` are the bot's own, for when a repository's are too long.
    """

    def __init__(self, locale: Locale, forms: Mapping[str, Forms], plain: Self | None = None) -> None:
        self.locale = locale
        self._forms = forms
        self.plain: Self = plain or self

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """Fill a message by its name; code that knows the name calls its method."""
        forms = self._forms[name]
        count = values.get(COUNT)
        form = self.locale.form(count) if isinstance(count, int) and len(forms) > 1 else "other"
        return forms.get(form, forms["other"]).fill({key: self._shown(value) for key, value in values.items()})

    def _shown(self, value: object) -> str:
        """Format numbers, shares and days for the language; strings are Markdown already."""
        if isinstance(value, int):
            return self.locale.number(value)
        if isinstance(value, float):
            return self.locale.percent(value)
        if isinstance(value, datetime):
            return self.locale.moment(value)
        return self.locale.day(value) if isinstance(value, date) else str(value)


class Message(Generic[P]):
    """The declaration of a message, as `docs/words.md` lists it: what it `says`, in which `place`."""

    name, place = "", ""

    def __init__(self, says: str, shape: Callable[P, None]) -> None:
        self.says = says
        self.variables = tuple(inspect.signature(shape).parameters)

    def __set_name__(self, owner: type[MessageGroup], name: str) -> None:
        self.name, self.place = name, (owner.__doc__ or "").rstrip(".")

    @overload
    def __get__(self, texts: None, owner: type[MessageGroup]) -> Self: ...
    @overload
    def __get__(self, texts: MessageGroup, owner: type[MessageGroup]) -> Callable[P, str]: ...
    def __get__(self, texts: MessageGroup | None, owner: type[MessageGroup]) -> Self | Callable[P, str]:
        return self if texts is None else partial(self, texts)

    def __call__(self, texts: MessageGroup, /, *args: P.args, **kwargs: P.kwargs) -> str:
        """The message, filled with values: Markdown, numbers, shares (`float`), days and moments."""
        return texts.fill(self.name, {**dict(zip(self.variables, args, strict=False)), **kwargs})


@overload
def message(says: str) -> Message[[]]: ...
@overload
def message(says: str, shape: Callable[P, None]) -> Message[P]: ...
def message(says: str, shape: Callable[..., None] = lambda: None) -> Message[...]:
    """Declare a message, with the variables of a function in `variables`."""
    return Message(says, shape)


def declared(texts: type[MessageGroup]) -> dict[str, Message[...]]:
    """All messages that a class and its bases declare, in order."""
    members = (member for owner in reversed(texts.__mro__) for member in vars(owner).values())
    return {member.name: member for member in members if isinstance(member, Message)}
