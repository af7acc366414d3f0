"""Reads `.github/doppel.yml` into a `RepoConfig` and a list of errors with positions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from bot.conversation.config.field_types import TRANSLATABLE, accepted_values, likely_meant
from bot.conversation.config.schema import JUDGE_FLOOR, MIN_CONFIDENCE, SOURCES, RepoConfig
from bot.conversation.config.yaml_tree import ConfigError, Quote, YamlNode, nearest, printable, read_tree
from bot.conversation.messages.catalogue import Messages
from bot.domain.likelihood import HIGHEST

PROBLEMS_MAX = 100
"""The most problems to list: nobody reads more, and a hostile file can have thousands."""


@lru_cache(maxsize=128)
def parse_config(text: str) -> tuple[RepoConfig, tuple[ConfigError, ...]]:
    """Read a settings file. Invalid settings keep their defaults. The errors come in the file's order. Never raises."""
    tree, problems = read_tree(text)
    config = _valid_settings(tree, problems)
    for name in ("min_confidence", "likely"):
        if (getattr(config, name) or 0) > HIGHEST:
            problems.append(_never_reached(tree.value[name], getattr(config, name)))
    problems.sort(key=lambda problem: (problem.line, problem.column))
    return config, tuple(problems[:PROBLEMS_MAX])


def notes_on(config: RepoConfig) -> list[str]:
    """Notes on valid settings that may surprise, such as a threshold that was chosen on an older scale (P5)."""
    notes: list[str] = []
    if 0 < (config.min_confidence or 0) < MIN_CONFIDENCE:
        notes.append(
            f"min_confidence: {config.min_confidence:g} is below the default, {MIN_CONFIDENCE:g}. "
            "It is the chance that a reader calls two issues the same report. "
            "It used to be the chance that somebody marks them as duplicates, which is lower. "
            "If it was set for that, leave it out, or let `doppel evaluate` recommend a value."
        )
    judge = config.judge
    on = [name for name in ("related", "critic") if getattr(judge, name) and not judge.enabled]
    notes += [f"judge: {name} is on, and the judge is off; {name} has no effect without enabled: on." for name in on]
    if judge.enabled and judge.floor < JUDGE_FLOOR:
        notes.append(
            f"judge: floor: {judge.floor:g} is below the default, {JUDGE_FLOOR:g}: the host's judge is asked "
            "about more issues than the usual three of ten, at the host's cost."
        )
    return notes


def _valid_settings(tree: YamlNode, problems: list[ConfigError]) -> RepoConfig:
    """The valid settings. Removes invalid values from the tree, and adds their errors to `problems`."""
    while True:
        try:
            return RepoConfig.model_validate(tree.plain())
        except ValidationError as invalid:
            errors = invalid.errors(include_url=False)[::-1]  # reversed, to keep list indexes valid
            # Unknown keys of `sources` and `templates` (marked `[key]`) go first; errors inside them are then dropped.
            errors.sort(key=lambda error: "[key]" not in error["loc"])
            problems += filter(None, (_remove_invalid(tree, error["loc"], error) for error in errors))


def _remove_invalid(tree: YamlNode, loc: tuple[int | str, ...], error: Any) -> ConfigError | None:
    """Remove the value at pydantic's `loc`, and return the error; None if an earlier call has removed the value."""
    ends_in_key_mark = loc[-1] == "[key]"
    is_key = ends_in_key_mark or error["type"] == "extra_forbidden"
    *parents, last = loc[:-1] if ends_in_key_mark else loc
    parent, field = tree, FieldInfo(annotation=RepoConfig)
    for step in parents:
        if isinstance(parent.value, dict) and step not in parent.value:
            return None
        parent, field = parent.value[step], _field_of(field, step)
    if isinstance(parent.value, dict) and last not in parent.value:
        return None
    node: YamlNode = parent.value[last]
    if error["type"] == "too_long" and isinstance(node.value, list):
        count, most = len(node.value), error["ctx"]["max_length"]
        del node.value[most:]  # keep the first items of a long list
        return ConfigError.translatable(
            node.line, node.column, lambda say, _: say.list_too_long(count=count, most=most)
        )
    del parent.value[last]
    origin = parent.keys[str(last)] if is_key else node
    if error["type"] == TRANSLATABLE:
        return ConfigError.translatable(origin.line, origin.column, error["ctx"]["wording"], error["ctx"]["hint"])
    if is_key:
        # `field` is the key's parent: a model or `sources`. For a key of `templates`, the branch above has returned.
        return _unknown_key(origin, str(last), getattr(field.annotation, "model_fields", SOURCES))
    expected = _field_of(field, last)

    def wording(say: Messages, quote: Quote) -> str:
        return say.wrong_value(value=_in_words(node, say, quote), wanted=accepted_values(expected, say, str))

    return ConfigError.translatable(node.line, node.column, wording, likely_meant(expected, node))


def _field_of(field: FieldInfo, step: int | str) -> FieldInfo:
    """The field that `step` leads to: a model's field, a list's item (`tuple[item, ...]`), or a mapping's value."""
    kind: Any = field.annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.model_fields[str(step)]
    return FieldInfo.from_annotation(get_args(kind)[0 if get_origin(kind) is tuple else 1])


def _unknown_key(key: YamlNode, name: str, known: Iterable[str]) -> ConfigError:
    def wording(say: Messages, quote: Quote) -> str:
        return say.unknown_setting(name=say.quoted(value=quote(printable(name))))

    return ConfigError.translatable(key.line, key.column, wording, nearest(name, known))


def _never_reached(node: YamlNode, value: float) -> ConfigError:
    return ConfigError.translatable(
        node.line, node.column, lambda say, _: say.never_reached(value=f"{value:g}", highest=f"{HIGHEST:g}")
    )


def _in_words(node: YamlNode, say: Messages, quote: Quote) -> str:
    if isinstance(node.value, dict):
        return say.a_mapping()
    if isinstance(node.value, list):
        return say.a_list()
    if not node.text:
        return say.no_value()
    return say.quoted(value=quote(printable(node.text))) if isinstance(node.value, str) else quote(node.text)
