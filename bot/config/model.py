"""The settings of one repository as the rest of the project reads them, with their defaults (C6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.config.globs import glob_matches
from bot.likelihood import LIKELY
from bot.words import Words, english

Mode = Literal["comment", "shadow", "off"]
LabelUse = Literal["suggest", "add", "off"]
DigestUse = Literal["issue", "off"]

MIN_CONFIDENCE = 0.24
"""How sure the bot must be where neither the settings nor the repository's own feedback say otherwise."""

ASKED_MOST = 5
"""So many candidates are listed for who asks, at least (P6)."""

Quote = Callable[[str], str]
"""Makes a piece of the file, or a word that is to be written into it, fit to be shown."""

Says = Callable[[Words, Quote], str]


@dataclass(frozen=True, slots=True)
class ConfigError:
    """One thing that is wrong with a settings file.

    `line` and `column` count from 1, as editors do. `hint` is the nearest valid key or word, empty where nothing is
    near. `message` is English and may quote the file; `in_words` says the same in another language, as Markdown, say.
    """

    line: int
    column: int
    message: str
    hint: str = ""
    says: Says | None = field(default=None, compare=False, repr=False)

    @classmethod
    def saying(cls, line: int, column: int, says: Says, hint: str = "") -> ConfigError:
        """A problem that can be told in every language."""
        return cls(line, column, says(english(), str), hint, says)

    def in_words(self, say: Words, quote: Quote) -> str:
        """The message; what it quotes of the file goes through `quote`."""
        return self.says(say, quote) if self.says else quote(self.message)

    def to_json(self) -> dict[str, object]:
        """For programs."""
        return {"line": self.line, "column": self.column, "message": self.message, "hint": self.hint}

    def __str__(self) -> str:
        hint = f" (did you mean {self.hint}?)" if self.hint else ""
        return f"line {self.line}, column {self.column}: {self.message}{hint}"


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How GitHub's search is used: F3's words, F8's budget of lexical searches an issue, and the hybrid request."""

    words_max: int = 5
    budget: int = 4
    hybrid: bool = True


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """One source of H6: whether it is asked, how many of its results are looked at (None: all), and its weight.

    The weight multiplies what its ranks add when the lists are fused.
    """

    enabled: bool = True
    limit: int | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class IgnoreConfig:
    """Which issues are left alone. Logins and labels are compared without case; titles are globs."""

    authors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepoConfig:
    """Everything that `.github/doppel.yml` can say. `RepoConfig()` is what holds without a file.

    Where `min_confidence` is None, `bot.calibration.bar` says which bar is in force.
    """

    mode: Mode = "comment"
    min_confidence: float | None = None
    calibrate: bool = True
    digest: DigestUse = "off"
    likely: float = LIKELY
    max_candidates: int = 3
    include_closed: bool = True
    search: SearchConfig = SearchConfig()
    sources: Mapping[str, SourceConfig] = field(default_factory=dict)
    ignore: IgnoreConfig = IgnoreConfig()
    only_labels: tuple[str, ...] = ()
    known_issues: tuple[int, ...] = ()
    siblings: tuple[str, ...] = ()
    label: LabelUse = "off"
    language: str = "auto"
    templates: Mapping[str, str] = field(default_factory=dict)
    close_after: int | None = None
    remote_text: bool = False

    @property
    def language_of_lists(self) -> str:
        """The language of what is about many issues at once, which may be in any: `auto` is English here."""
        return "en" if self.language == "auto" else self.language

    def why_ignored(self, author: str, labels: Iterable[str], title: str) -> str | None:
        """Say which setting makes the bot leave this issue alone, or None where none does.

        The answer is the setting's path and what matched, for logs and the dashboard.
        """
        if _has(self.ignore.authors, author):
            return f"ignore.authors: {author}"
        labels = tuple(labels)
        for label in labels:
            if _has(self.ignore.labels, label):
                return f"ignore.labels: {label}"
        for glob in self.ignore.titles:
            if glob_matches(glob, title):
                return f"ignore.titles: {glob}"
        if self.only_labels and not any(_has(self.only_labels, label) for label in labels):
            return "only_labels"
        return None


def _has(names: tuple[str, ...], name: str) -> bool:
    """GitHub compares logins and labels without case, and so do we."""
    return name.casefold() in (known.casefold() for known in names)
