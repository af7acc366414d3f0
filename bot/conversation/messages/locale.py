"""Formats numbers, shares and days for a language."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

import babel
from babel.dates import format_date
from babel.numbers import format_decimal, format_percent


@dataclass(frozen=True)
class Locale:
    """One language. `days` is the CLDR pattern for a day, such as `yyyy-MM-dd`."""

    language: str
    days: str

    def form(self, count: int) -> str:
        """The plural category of a number: `one`, `many`, `other` …"""
        return str(babel.Locale.parse(self.language).plural_form(count))

    def number(self, number: float) -> str:
        """`1,200` or `2.5` in the language's notation, with up to three decimals."""
        return str(format_decimal(number, locale=self.language))

    def percent(self, share: float) -> str:
        """A share in percent. Only 0 and 1 become 0% and 100%; other shares get 1% to 99%."""
        percent = round(share * 100)
        if 0 < share < 1:
            percent = min(max(percent, 1), 99)
        return str(format_percent(percent / 100, locale=self.language))

    def day(self, day: date) -> str:
        return str(format_date(day, self.days, locale=self.language))

    def moment(self, moment: datetime) -> str:
        return f"{self.day(moment)} {moment.strftime('%H:%M %Z')}".strip()

    def shown(self, value: object) -> str:
        """Format numbers, shares (`float`), days and moments. Strings are Markdown already."""
        match value:
            case int():
                return self.number(value)
            case float():
                return self.percent(value)
            case datetime():
                return self.moment(value)
            case date():
                return self.day(value)
        return str(value)
