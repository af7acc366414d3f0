"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How a check went. A warning does not keep Doppel from working."""

    WELL = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report; `mend` says what to do and is empty where nothing need be done."""

    health: Health
    subject: str
    says: str
    mend: str = ""


def well(subject: str, says: str) -> Finding:
    return Finding(Health.WELL, subject, says)


def warning(subject: str, says: str, mend: str) -> Finding:
    return Finding(Health.WARNING, subject, says, mend)


def broken(subject: str, says: str, mend: str) -> Finding:
    return Finding(Health.BROKEN, subject, says, mend)
