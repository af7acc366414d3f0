"""Why a candidate was picked (C3): what it shares with the issue, and what GitHub says of the two.

Reasons quote issues as they are, hostile text included: whoever shows them escapes them (`bot/render/`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Shared(StrEnum):
    """What two issues can have in common, strongest first; and what GitHub says of them."""

    COPY = "all of the text"
    MESSAGE = "error text"
    IDENTIFIERS = "identifiers"
    TITLES = "words of titles"
    WORDS = "words"
    GITHUB = "GitHub's verdict"


_ENGLISH = {
    Shared.COPY: "Same title and text, word for word",
    Shared.MESSAGE: "Same error text: “{}”",
    Shared.IDENTIFIERS: "Same identifiers: {}",
    Shared.TITLES: "Same words in both titles: {}",
    Shared.WORDS: "Same words: {}",
    Shared.GITHUB: "GitHub calls it a likely duplicate",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason with what it quotes: an error message, or words. As a string it is an English sentence."""

    shared: Shared
    quoted: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _ENGLISH[self.shared].format(", ".join(self.quoted))
