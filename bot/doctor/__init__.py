"""What `doppel doctor` looks at, one check after the other: each says how it is, and how to mend what is not well."""

from __future__ import annotations

from bot.doctor.examining import examine
from bot.doctor.finding import Health
from bot.doctor.github import Wanted

__all__ = ["Health", "Wanted", "examine"]
