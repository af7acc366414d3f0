"""Two reports of one thing and one of another, and what the bot says and keeps about the second."""

from __future__ import annotations

from tests.e2e.harness import Doppel

FIRST = ("Crash while exporting to PDF", "Exporting raises `PdfRenderError: page 7`.")
AGAIN = ("Exporting to PDF crashes", "I see `PdfRenderError: page 7` when exporting.")
OTHER = ("Dark mode for the settings page", "Please add it.")


def reply(doppel: Doppel, number: int = 2) -> str:
    """The bot's second comment, without its marker."""
    (_, answer) = doppel.said(number)
    return answer.partition("\n")[2].rstrip("\n")


def rejected(doppel: Doppel, number: int = 2) -> set[int]:
    """The issues that are rejected as originals of one."""
    return doppel.services.store.verdicts.rejected(doppel.repository.id, number)
