"""`.github/doppel.yml` → `RepoConfig` and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from bot.conversation.config.field_types import meant, wanted
from bot.conversation.config.schema import SOURCES, RepoConfig
from bot.conversation.config.yaml_tree import ConfigError, Quote, YamlNode, nearest, printable, read_tree
from bot.conversation.messages.catalogue import Messages
from bot.domain.likelihood import HIGHEST

PROBLEMS_MAX = 100
"""More problems than this are not listed: nobody reads them, and a hostile file can have thousands."""


def parse_config(text: str) -> tuple[RepoConfig, tuple[ConfigError, ...]]:
    """Read a settings file: what is valid counts, what is wrong keeps its default and is listed by position.

    Never raises, whatever the text; costs at most two or three seconds for the largest file that is read (64 KiB) at
    its worst, once for all events of a repository while it stays the same.
    """
    return _parsed(text)


@lru_cache(maxsize=128)
def _parsed(text: str) -> tuple[RepoConfig, tuple[ConfigError, ...]]:
    tree, problems = read_tree(text)
    config = _model(tree, problems)
    for name in ("min_confidence", "likely"):
        if (getattr(config, name) or 0) > HIGHEST:
            problems.append(_never_reached(tree.value[name], getattr(config, name)))
    problems.sort(key=lambda problem: (problem.line, problem.column))
    return config, tuple(problems[:PROBLEMS_MAX])


def _model(tree: YamlNode, problems: list[ConfigError]) -> RepoConfig:
    """The settings of what is valid; the rest is noted and taken out of the tree, until the model takes all of it."""
    while True:
        try:
            return RepoConfig.model_validate(tree.plain())
        except ValidationError as refused:
            errors = refused.errors(include_url=False)
            # Backwards, so that the places in a list hold. What is wrong under a key that is unknown does not matter.
            errors.sort(key=lambda error: "[key]" in error["loc"])
            problems += filter(None, (_taken_out(tree, error["loc"], error) for error in reversed(errors)))


def _taken_out(tree: YamlNode, loc: tuple[int | str, ...], error: Any) -> ConfigError | None:
    is_key = loc[-1] == "[key]" or error["type"] == "extra_forbidden"
    *above, last = loc[:-1] if loc[-1] == "[key]" else loc
    holder, field = tree, FieldInfo(annotation=RepoConfig)
    for step in above:
        if isinstance(holder.value, dict) and step not in holder.value:
            return None
        holder, field = holder.value[step], _inside(field, step)
    if isinstance(holder.value, dict) and last not in holder.value:
        return None
    node: YamlNode = holder.value[last]
    if error["type"] == "too_long" and isinstance(node.value, list):
        count, most = len(node.value), error["ctx"]["max_length"]
        del node.value[most:]
        return ConfigError.saying(node.line, node.column, lambda say, _: say.list_too_long(count=count, most=most))
    del holder.value[last]
    place = holder.keys[str(last)] if is_key else node
    if error["type"] == "said":
        return ConfigError.saying(place.line, place.column, error["ctx"]["says"], error["ctx"]["hint"])
    if is_key:
        return _unknown(place, str(last), getattr(field.annotation, "model_fields", SOURCES))
    taken = _inside(field, last)

    def says(say: Messages, quote: Quote) -> str:
        return say.wrong_value(value=_what(node, say, quote), wanted=wanted(taken, say, str))

    return ConfigError.saying(node.line, node.column, says, meant(taken, node))


def _inside(field: FieldInfo, step: int | str) -> FieldInfo:
    """What the model takes at a key of a mapping, or as an item of a list."""
    kind: Any = field.annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.model_fields[str(step)]
    return FieldInfo.from_annotation(get_args(kind)[0 if get_origin(kind) is tuple else 1])


def _unknown(key: YamlNode, name: str, known: Iterable[str]) -> ConfigError:
    def says(say: Messages, quote: Quote) -> str:
        if name == "close_after":
            return say.closing_gone()
        return say.unknown_setting(name=say.quoted(value=quote(printable(name))))

    return ConfigError.saying(key.line, key.column, says, nearest(name, known))


def _never_reached(node: YamlNode, value: float) -> ConfigError:
    return ConfigError.saying(
        node.line, node.column, lambda say, _: say.never_reached(value=f"{value:g}", highest=f"{HIGHEST:g}")
    )


def _what(node: YamlNode, say: Messages, quote: Quote) -> str:
    """How a message speaks of what stands in the file."""
    if isinstance(node.value, dict):
        return say.a_mapping()
    if isinstance(node.value, list):
        return say.a_list()
    if not node.text:
        return say.no_value()
    return say.quoted(value=quote(printable(node.text))) if isinstance(node.value, str) else quote(node.text)
