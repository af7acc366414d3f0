"""Declares messages: each has a name and a purpose. The `.toml` files have the texts in each language.

A class attribute declares a message, and the gaps of its English text are its variables. Callers call the message like
a method, with the variables as keywords: `say.results(count=2)`. `catalogue.py` checks that each language's file has
exactly the declared messages and the variables of the English texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Self, overload

import babel
from babel.dates import format_date
from babel.numbers import format_decimal, format_percent

from bot.conversation.messages.template import Template


@lru_cache(maxsize=1_000, typed=True)
def _decimal(number: float, language: str) -> str:
    """Cached, since Babel is slow, and a hostile settings file can have thousands of errors."""
    return str(format_decimal(number, locale=language))


@dataclass(frozen=True)
class Locale:
    """One language, with its pattern for days in CLDR's letters (`yyyy-MM-dd`)."""

    language: str
    days: str

    def form(self, count: int) -> str:
        """The plural category of a number: `one`, `many`, `other` …"""
        return str(babel.Locale.parse(self.language).plural_form(count))

    def number(self, number: float) -> str:
        """`1,200` or `2.5` in the language's notation, with up to three decimals."""
        return _decimal(number, self.language)

    def percent(self, share: float) -> str:
        """A share in percent. Only exactly 0 and 1 become 0% and 100%: other shares are rounded to 1% to 99%."""
        rounded = round(share * 100)
        if rounded == 100 and share < 1:
            rounded = 99
        return str(format_percent((rounded if rounded or share <= 0 else 1) / 100, locale=self.language))

    def day(self, day: date) -> str:
        return str(format_date(day, self.days, locale=self.language))

    def moment(self, moment: datetime) -> str:
        return f"{self.day(moment)} {moment.strftime('%H:%M %Z')}".strip()


COUNT = "count"
"""The variable that chooses the plural form: "1 result", "2 results"."""

Forms = Mapping[str, Template]
"""The forms of a message by CLDR's plural categories; `other` always exists."""


class MessageGroup:
    """Messages in one language, perhaps with a repository's templates; `plain` has none of these. Immutable."""

    def __init__(self, locale: Locale, forms: Mapping[str, Forms], plain: Self | None = None) -> None:
        self.locale = locale
        self._forms = forms
        self.plain: Self = plain or self

    def variables(self, name: str) -> tuple[str, ...]:
        forms = self._forms[name]
        gaps = [gap for form in forms.values() for gap in form.variables]
        # A form such as "one result" has no gap for the number.
        return tuple(dict.fromkeys([*gaps, COUNT] if len(forms) > 1 else gaps))

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """Fill a message by its name with values: Markdown, numbers, shares (`float`), days and moments."""
        forms = self._forms[name]
        count = values.get(COUNT)
        form = self.locale.form(count) if isinstance(count, int) and len(forms) > 1 else "other"
        return forms.get(form, forms["other"]).fill({key: self._shown(value) for key, value in values.items()})

    def _shown(self, value: object) -> str:
        """Format numbers, shares and days for the language. Strings are Markdown already."""
        if isinstance(value, int):
            return self.locale.number(value)
        if isinstance(value, float):
            return self.locale.percent(value)
        if isinstance(value, datetime):
            return self.locale.moment(value)
        return self.locale.day(value) if isinstance(value, date) else str(value)


class Message:
    """The declaration of a message. `docs/words.md` shows its `purpose` under the heading `place`."""

    name, place = "", ""

    def __init__(self, purpose: str) -> None:
        self.purpose = purpose

    def __set_name__(self, owner: type[MessageGroup], name: str) -> None:
        self.name, self.place = name, (owner.__doc__ or "").rstrip(".")

    @overload
    def __get__(self, texts: None, owner: type[MessageGroup]) -> Self: ...
    @overload
    def __get__(self, texts: MessageGroup, owner: type[MessageGroup]) -> Callable[..., str]: ...
    def __get__(self, texts: MessageGroup | None, owner: type[MessageGroup]) -> Self | Callable[..., str]:
        return self if texts is None else partial(self, texts)

    def __call__(self, texts: MessageGroup, /, **values: object) -> str:
        return texts.fill(self.name, values)


def declared(texts: type[MessageGroup]) -> dict[str, Message]:
    members = (member for owner in reversed(texts.__mro__) for member in vars(owner).values())
    return {member.name: member for member in members if isinstance(member, Message)}
