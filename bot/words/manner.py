"""How a language writes numbers, shares and days, and which form goes with a number: CLDR's rules, by way of Babel."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

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
