"""The settings of one repository (C6). Parser, JSON Schema and documentation are made from these models.

The docstring under a field describes the field in the schema and in the documentation.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, get_args

from annotated_types import Ge, Le, MaxLen
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.conversation.config.field_types import (
    MAXIMUM_FOR_EDITORS,
    SWITCH,
    Accepts,
    Association,
    AsTuple,
    Glob,
    IssueType,
    ItemName,
    Label,
    Login,
    Probability,
    RepositoryName,
    Switch,
    Templates,
    Unique,
    accepted_keys,
    is_switch,
    normalize_off,
)
from bot.domain.entities import NUMBER_MAX, Issue
from bot.domain.likelihood import LIKELY

CONFIG_PATH = ".github/doppel.yml"
"""The path of the file, in the repository itself or in its owner's `.github` repository."""

# How many characters of a title are compared. GitHub's titles have at most 256.
_TITLE_MAX = 1_000


def glob_matches(glob: str, title: str) -> bool:
    """Whether a glob matches the whole title, ignoring case; `[` is literal. Many stars do not make a glob slow."""
    return fnmatchcase(title[:_TITLE_MAX].lower().strip(), glob.lower().strip().replace("[", "[[]"))


MIN_CONFIDENCE = 0.24
"""The default of `min_confidence`, which feedback can move."""

JUDGE_FLOOR = 0.05
"""The default of `judge.floor`. 19 to 30 of 100 new issues have a candidate above it (docs/guides/judge.md)."""

ASKED_MOST = 5
"""A command gets up to this many candidates, even if `max_candidates` is lower (P6)."""

SOURCES: dict[str, str] = {
    "github-search": "GitHub's issue search by words. On until the bot's own index of the repository is ready, and "
    "whenever `full-text` and `vectors` are off.",
    "github-hybrid": "GitHub's semantic issue search. On by default.",
    "github-similar": "GitHub's own ranking of the issues most like this one. On; where GitHub does not offer it, "
    "it is asked again after a day.",
    "full-text": "The bot's own full-text index. On when it is ready.",
    "vectors": "The bot's own semantic index. On when it is ready.",
    "pull-requests": "Pull requests, open, closed and merged. Off.",
    "discussions": "Discussions; the App needs permission to read them. Off.",
    "siblings": "The repositories named under `siblings`. On where any are named.",
    "known-issues": "The issues named under `known_issues`. On where any are named.",
}
"""Every source of H6 with its description, by its name in settings and reports."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _normalize_off(cls, section: Any) -> Any:
        """Accept `false`, `Off` and `OFF` for the choice `off`, as YAML 1.1 does."""
        if not isinstance(section, dict):
            return section
        fields = cls.model_fields
        return {
            key: normalize_off(value) if key in fields and "off" in get_args(fields[key].annotation) else value
            for key, value in section.items()
        }


class _SwitchableSection(_Section):
    @model_validator(mode="before")
    @classmethod
    def _accept_switch(cls, value: Any) -> Any:
        """Accept a switch, or a mapping with the differences from the defaults."""
        return {"enabled": value} if is_switch(value) else value


class SearchConfig(_Section):
    """How GitHub's search is used: the words of a title (F3), the searches per issue (F8), and the semantic search."""

    words_max: Annotated[int, Ge(1), Le(10)] = 5
    """How many words of a title the first query takes."""
    budget: Annotated[int, Ge(1), Le(10)] = 4
    """How many word searches an issue may cost. An installation's repositories share 30 a minute. Pull requests cost
    one search, siblings one for every three repositories. An enabled source is asked even beyond the budget."""
    hybrid: Switch = True
    """Also ask GitHub's semantic search, where it is available."""


class SourceConfig(_SwitchableSection):
    """One source of H6: whether it is asked, how many of its results are looked at (None: all), and its weight."""

    enabled: Switch = True
    """Whether this source is asked."""
    limit: Annotated[int | None, Ge(1), Le(100)] = None
    """How many results of this source are looked at."""
    weight: Annotated[float, Ge(0), Le(10)] = 1.0
    """How much its ranking counts compared with the other sources; 1 is normal."""


class JudgeConfig(_SwitchableSection):
    """How the judge is used: a language model that reads an issue together with its candidates, if the host has one."""

    enabled: Switch = True
    """Whether the judge is asked."""
    private: Switch = False
    """Whether a private repository's texts may go to the judge, if the host allows it."""
    floor: Annotated[float, Ge(0), Le(1), Probability, MAXIMUM_FOR_EDITORS] = JUDGE_FLOOR
    """The judge is asked about candidates from this probability on. A lower one finds more and costs more."""
    critic: Switch = False
    """Whether the judge reads pairs with the verdict `same` a second time, each pair alone, to find differences."""
    related: Switch = False
    """Whether the bot also comments unasked if the judge calls a candidate related."""
    cause: Switch = True
    """Whether the comment quotes what the judge calls the shared cause."""


class IgnoreConfig(_Section):
    """Which issues are left alone. Logins and labels are compared without case; titles are globs."""

    authors: Annotated[tuple[Login, ...], MaxLen(100), AsTuple, Unique, ItemName("logins")] = ()
    """Issues of these people and Apps are left alone."""
    labels: Annotated[tuple[Label, ...], MaxLen(100), AsTuple, Unique, ItemName("labels")] = ()
    """Issues with one of these labels are left alone."""
    titles: Annotated[tuple[Glob, ...], MaxLen(100), AsTuple, Unique, ItemName("globs")] = ()
    """Issues whose title matches one of these are left alone. `*` is any text, `?` any character; case does not
    matter."""
    associations: Annotated[tuple[Association, ...], MaxLen(10), AsTuple, Unique, ItemName("associations")] = ()
    """Issues of authors with one of these relations to the repository are left alone: `OWNER`,
    `MEMBER` (of the organization), `COLLABORATOR`, `CONTRIBUTOR`, `NONE` and so on."""
    types: Annotated[tuple[IssueType, ...], MaxLen(100), AsTuple, Unique, ItemName("types")] = ()
    """Issues of one of these types are left alone."""


def _allow_switch(schema: dict[str, Any]) -> None:
    """Let editors accept a switch in place of the mapping, as the parser does."""
    schema["anyOf"] = [*SWITCH, {"$ref": schema.pop("$ref")}]


def _source_name(name: str) -> str:
    if name not in SOURCES:
        raise ValueError
    return name


def _list_sources(schema: dict[str, Any]) -> None:
    """List every source in the schema, so that editors can complete it."""
    source = {"anyOf": [*SWITCH, schema["additionalProperties"]]}
    schema["properties"] = {name: {"description": description, **source} for name, description in SOURCES.items()}
    schema["additionalProperties"] = False


def _switch_or_keys(model: type[BaseModel]) -> Accepts:
    """Words for the accepted values: `on`, `off`, or a mapping with the keys of `model`."""
    keys, switches = model.model_fields, ("on", "off")
    return Accepts(
        lambda say, code: say.either(first=say.comma().join(map(code, switches)), last=accepted_keys(keys, say, code))
    )


Source = Annotated[SourceConfig, _switch_or_keys(SourceConfig)]


class RepoConfig(_Section):
    """All settings of `.github/doppel.yml`. `RepoConfig()` has the defaults, which apply without a file.

    If `min_confidence` is None, `bot.quality.calibration` chooses the threshold.
    """

    mode: Literal["comment", "shadow", "off"] = "comment"
    """`comment` posts comments; `shadow` only records what the bot would have posted unasked; `off` does nothing."""
    min_confidence: Annotated[float | None, Ge(0), Le(1), Probability, MAXIMUM_FOR_EDITORS] = None
    """The lowest probability at which the bot comments unasked: the probability that a careful reader of both texts
    would call an earlier issue the same report. Feedback never moves a value that you set."""
    calibrate: Switch = True
    """Whether feedback moves `min_confidence` if you have not set it."""
    digest: Literal["issue", "off"] = "off"
    """`issue` keeps one issue that shows what the bot did in the last week, for maintainers to judge."""
    likely: Annotated[float, Ge(0), Le(1), Probability, MAXIMUM_FOR_EDITORS] = LIKELY
    """The lowest probability of the first candidate, in the sense of `min_confidence`, at which the
    comment begins with “Probably reported before” and not with “Possibly related”."""
    max_candidates: Annotated[int, Ge(1), Le(10)] = 3
    """The most earlier issues that a comment shows unasked. A command can show five in any case."""
    include_closed: Switch = True
    """Whether closed issues are shown too; most originals are closed sooner or later."""
    search: SearchConfig = SearchConfig()
    """How GitHub's search is used."""
    sources: Annotated[
        dict[Annotated[str, AfterValidator(_source_name)], Source],
        Accepts(lambda say, code: accepted_keys(SOURCES, say, code)),
        Field(json_schema_extra=_list_sources),
    ] = {}
    """Whether and how a source is searched: `on`, `off`, or a mapping. A mapping without `enabled: off` switches the
    source on. The defaults are listed below."""
    judge: Annotated[JudgeConfig, _switch_or_keys(JudgeConfig), Field(json_schema_extra=_allow_switch)] = JudgeConfig()
    """Whether and how a language model judges the likeliest candidates, where the host has one."""
    ignore: IgnoreConfig = IgnoreConfig()
    """Which issues are left alone."""
    only_labels: Annotated[tuple[Label, ...], MaxLen(100), AsTuple, Unique, ItemName("labels")] = ()
    """Only issues with one of these labels are looked at. The label may be there from the start, or
    a person may add it later. A label that an App adds later counts only if `bots` is on."""
    only_types: Annotated[tuple[IssueType, ...], MaxLen(100), AsTuple, Unique, ItemName("types")] = ()
    """Only issues of one of these types are looked at."""
    bots: Switch = False
    """Whether issues that Apps open, edit or label are looked at. They are found as earlier issues either way."""
    per_author: Annotated[int, Ge(1), Le(1000)] = 10
    """How many issues of one author are looked at in an hour. Others are retried hourly for a day, or on a command."""
    known_issues: Annotated[
        tuple[Annotated[int, Ge(1), Le(NUMBER_MAX)], ...],
        MaxLen(100),
        AsTuple,
        Unique,
        ItemName("issue_numbers"),
    ] = ()
    """Issues that are often reported again. They are always considered, whatever the searches find.
    With its own index, the bot also considers issues that have three or more closed duplicates."""
    siblings: Annotated[tuple[RepositoryName, ...], MaxLen(20), AsTuple, Unique, ItemName("repositories")] = ()
    """Public repositories of the same owner that are searched as well; the host may allow others (`DOPPEL_SIBLINGS`).
    Private ones are never searched."""
    label: Literal["suggest", "add", "off"] = "off"
    """Whether the bot, when it is sure, suggests or adds the label `duplicate`, if the repository has one. Suggesting
    needs GitHub's label suggestions."""
    suggest_closing: Switch = False
    """Whether the bot suggests closing a likely duplicate. Maintainers approve or dismiss the suggestion on GitHub with
    one click; nothing is closed without approval. This needs GitHub's issue suggestions."""
    language: Literal["auto", "en", "zh", "ja", "es", "de", "fr"] = "auto"
    """The language of comments. `auto` is the language of the issue, or English if the bot does not speak that."""
    templates: Templates = {}
    """Your own texts, by name, in place of the bot's."""
    remote_text: Switch = False
    """Whether a private repository's texts may go to the host's embedding endpoint, if the host has one and allows
    it."""

    @property
    def language_of_lists(self) -> str:
        """The language of lists of many issues, for which `auto` means English."""
        return "en" if self.language == "auto" else self.language

    def why_ignored(self, issue: Issue) -> str | None:
        """For logs, why the settings make the bot skip this issue; None if they do not."""
        if issue.author.is_bot and not self.bots:
            return "a bot opened it"
        if _has(self.ignore.authors, issue.author.login):
            return f"ignore.authors: {issue.author.login}"
        if issue.association in self.ignore.associations:
            return f"ignore.associations: {issue.association}"
        if _has(self.ignore.types, issue.type):
            return f"ignore.types: {issue.type}"
        for label in issue.labels:
            if _has(self.ignore.labels, label):
                return f"ignore.labels: {label}"
        for glob in self.ignore.titles:
            if glob_matches(glob, issue.title):
                return f"ignore.titles: {glob}"
        if self.only_labels and not any(_has(self.only_labels, label) for label in issue.labels):
            return "only_labels"
        if self.only_types and not _has(self.only_types, issue.type):
            return "only_types"
        return None


def _has(names: tuple[str, ...], name: str) -> bool:
    """Whether `name` is among `names`. Ignores case, as GitHub does for logins and labels."""
    return name.casefold() in (known.casefold() for known in names)
