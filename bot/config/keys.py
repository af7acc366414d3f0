"""The one table of settings: parser, JSON Schema and documentation are made from it (C6).

Defaults are those of the dataclasses in `bot.config.model`; a test holds that both name the same keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.config.kinds import (
    JSON,
    UNUSABLE,
    Choice,
    Days,
    Kind,
    Many,
    Number,
    Probability,
    Problems,
    Switch,
    Text,
    Whole,
    nearest,
)
from bot.config.model import (
    MIN_CONFIDENCE,
    ConfigError,
    IgnoreConfig,
    Quote,
    RepoConfig,
    SearchConfig,
    SourceConfig,
)
from bot.config.templates import Templates
from bot.config.tree import Mapping, Node, Scalar, printable
from bot.model import NUMBER_MAX, PLACE
from bot.words import LANGUAGES, Words


@dataclass(frozen=True)
class Key:
    """One setting: its name, what it takes, and what it does in a sentence.

    `default` is said of what holds without it, where the dataclass alone does not tell.
    """

    name: str
    kind: Kind
    says: str
    default: str = ""


@dataclass(frozen=True)
class Section(Kind):
    """A mapping with known keys, made into a dataclass whose defaults hold for what is missing or wrong."""

    keys: tuple[Key, ...]
    make: Callable[..., Any]

    def read(self, node: Node, problems: Problems) -> Any:
        if not isinstance(node, Mapping):
            return self.refuse(node, problems)
        kinds = {key.name: key.kind for key in self.keys}
        values: dict[str, Any] = {}
        for key, value in node.entries:
            kind = kinds.get(key.text)
            if kind is None:
                problems.append(_unknown(key, kinds))
            elif (read := kind.read(value, problems)) is not UNUSABLE:
                values[key.text] = read
        return self.make(**values)

    def schema(self) -> JSON:
        properties = {key.name: {"description": key.says, **key.kind.schema()} for key in self.keys}
        return {"type": "object", "properties": properties, "additionalProperties": False}

    def wants(self, say: Words, code: Quote) -> str:
        return say.wants_mapping(keys=say.comma().join(code(key.name) for key in self.keys))


@dataclass(frozen=True)
class Source(Kind):
    """On, off, or a mapping with what shall differ from the source's own defaults."""

    section: Section

    def read(self, node: Node, problems: Problems) -> Any:
        if isinstance(node, Mapping):
            return self.section.read(node, problems)
        switched: list[ConfigError] = []
        value = Switch().read(node, switched)
        return SourceConfig(enabled=value) if not switched else self.refuse(node, problems)

    def schema(self) -> JSON:
        return {"anyOf": [Switch().schema(), self.section.schema()]}

    def wants(self, say: Words, code: Quote) -> str:
        return say.either(first=say.comma().join((code("on"), code("off"))), last=self.section.wants(say, code))


def _unknown(key: Scalar, known: dict[str, Kind]) -> ConfigError:
    """The problem of a key that is not in the table, with the one that was probably meant."""

    def says(say: Words, quote: Quote) -> str:
        return say.unknown_setting(name=say.quoted(value=quote(printable(key.text))))

    return ConfigError.saying(key.line, key.column, says, nearest(key.text, known))


class _Login(Text):
    """A login, which people also write as they mention somebody."""

    def read(self, node: Node, problems: Problems) -> Any:
        login = super().read(node, problems)
        return login.removeprefix("@") if isinstance(login, str) else login


_LABEL = Text(Words.a_label, 50)

SEARCH = (
    Key("words_max", Whole(1, 10), "How many words of a title the first query takes."),
    Key(
        "budget",
        Whole(1, 10),
        "How many searches by words one issue may cost. All repositories of an installation share 30 a minute; pull "
        "requests use one, siblings one for every three. Each source that is on makes at least one, even if that is "
        "more.",
    ),
    Key("hybrid", Switch(), "Also ask GitHub's semantic search, where it is available."),
)

IGNORE = (
    Key(
        "authors", Many(_Login(Words.a_login, 60), Words.logins, 100), "Issues of these people and Apps are left alone."
    ),
    Key("labels", Many(_LABEL, Words.labels, 100), "Issues with one of these labels are left alone."),
    Key(
        "titles",
        Many(Text(Words.a_glob, 200), Words.globs, 100),
        "Issues whose title matches one of these are left alone. `*` is any text, `?` any character; case does not "
        "matter.",
    ),
)

SOURCE = (
    Key("enabled", Switch(), "Whether this source is asked."),
    Key("limit", Whole(1, 100), "How many results of this source are looked at."),
    Key("weight", Number(0, 10), "How much its ranking counts compared with the other sources; 1 is normal."),
)

SOURCES: dict[str, str] = {
    "github-search": "GitHub's issue search by words. On until the bot's own index of the repository is ready; with "
    "`full-text` and `vectors` off, always.",
    "github-hybrid": "GitHub's semantic issue search. On.",
    "github-similar": "GitHub's own ranking of the issues most like this one. On; where GitHub does not offer it, "
    "it is asked again after a day.",
    "full-text": "The bot's own full-text index. On when it is ready.",
    "vectors": "The bot's own semantic index. On when it is ready.",
    "pull-requests": "Pull requests, open, closed and merged. Off.",
    "discussions": "Discussions; the App needs permission to read them. Off.",
    "siblings": "The repositories named under `siblings`. On where any are named.",
    "known-issues": "The issues named under `known_issues`. On where any are named.",
}
"""Every source of H6 by the name that settings and reports use."""

_SOURCE = Source(Section(SOURCE, SourceConfig))

KEYS = (
    Key(
        "mode",
        Choice(("comment", "shadow", "off")),
        "`comment` posts comments; `shadow` only records what the bot would have posted unasked; `off` does nothing.",
    ),
    Key(
        "min_confidence",
        Probability(),
        "From which probability on the bot comments unasked: how likely a careful reader of both texts would call them "
        "the same report. A value set here is never moved.",
        default=f"`{MIN_CONFIDENCE}`, moved by feedback",
    ),
    Key(
        "calibrate",
        Switch(),
        "Whether feedback moves `min_confidence` if you have not set it.",
    ),
    Key(
        "digest",
        Choice(("issue", "off")),
        "`issue` keeps one issue that shows what the bot did in the last week, for maintainers to judge.",
    ),
    Key(
        "likely",
        Probability(),
        "How likely, in the same sense, the first candidate must be for the comment to begin with “Probably reported "
        "before” instead of “Possibly related”.",
    ),
    Key(
        "max_candidates",
        Whole(1, 10),
        "The most earlier issues that a comment shows unasked. Who asks gets the best five at least.",
    ),
    Key("include_closed", Switch(), "Whether closed issues are shown too; most originals are closed sooner or later."),
    Key("search", Section(SEARCH, SearchConfig), "How GitHub's search is used."),
    Key(
        "sources",
        Section(tuple(Key(name, _SOURCE, says) for name, says in SOURCES.items()), dict),
        "Whether and how a source is searched: `on`, `off`, or a mapping, which switches it on unless it says "
        "`enabled: off`. The defaults are listed below.",
    ),
    Key("ignore", Section(IGNORE, IgnoreConfig), "Which issues are left alone."),
    Key(
        "only_labels",
        Many(_LABEL, Words.labels, 100),
        "Only issues with one of these labels are looked at: when they are opened, or when a person puts the label on "
        "them. What a bot puts on later is no reason to look, since what bots do is not answered.",
    ),
    Key(
        "known_issues",
        Many(Whole(1, NUMBER_MAX), Words.issue_numbers, 100),
        "Issues that are often reported again. They are always considered, whatever the searches find.",
    ),
    Key(
        "siblings",
        Many(
            Text(Words.a_repository, 140, PLACE),
            Words.repositories,
            20,
        ),
        "Public repositories of the same owner that are searched as well; the host may allow others "
        "(`DOPPEL_SIBLINGS`). Private ones are never searched.",
    ),
    Key(
        "label",
        Choice(("suggest", "add", "off")),
        "Whether the bot, when it is sure, suggests or adds the label `duplicate`, if the repository has one. "
        "Suggesting needs GitHub's label suggestions.",
    ),
    Key(
        "language",
        Choice(("auto", *LANGUAGES)),
        "The language of comments. `auto` is the language of the issue, or English if the bot does not speak that.",
    ),
    Key("templates", Templates(), "Your own texts, by name, in place of the bot's."),
    Key(
        "close_after",
        Days(),
        "Close a very probable duplicate after this time if its author or a triager agrees and nobody objects. "
        "Triagers agree by setting the label; with `label: add` the bot sets it, so only the author can agree.",
    ),
    Key(
        "remote_text",
        Switch(),
        "Whether a private repository's texts may go to the host's embedding endpoint, if the host has one and "
        "allows it.",
    ),
)
"""All settings, in the order of the documentation."""

ROOT = Section(KEYS, RepoConfig)
