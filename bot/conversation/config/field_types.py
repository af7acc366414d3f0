"""The types of settings, what each accepts in words, and what was probably meant by a wrong value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Le, MaxLen
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from bot.conversation.config.yaml_tree import Quote, Wording, YamlNode, nearest, printable, scalar
from bot.conversation.messages.catalogue import Messages
from bot.conversation.messages.message import Message, declared
from bot.conversation.messages.template import GAPS_MAX, TEMPLATE_MAX, MalformedTemplate, Template, forbidden_part
from bot.domain.entities import PLACE
from bot.domain.likelihood import HIGHEST

OFF_SPELT = {"type": "string", "pattern": "^(?:Off|OFF)$"}
SWITCH = [
    {"enum": [True, False, "on", "off", "yes", "no"]},
    # Apart from the words themselves, which alone an editor offers.
    {"type": "string", "pattern": "^(?:On|ON|Off|OFF|Yes|YES|No|NO)$"},
]
"""A switch in JSON Schema's words."""


@dataclass(frozen=True)
class ItemName:
    """What messages call a text, or the items of a list."""

    words: Callable[[Messages], str]


@dataclass(frozen=True)
class Accepts:
    """What a setting accepts, if its type does not tell, and what was probably meant by another value."""

    words: Wording
    meant: Callable[[YamlNode], str] = lambda node: ""


def is_switch(value: Any) -> bool:
    """YAML 1.1 reads `on`, `yes` and their opposites as booleans, YAML 1.2 as words; both are accepted."""
    spelt = isinstance(value, str) and value in (value.lower(), value.upper(), value.capitalize())
    return isinstance(value, bool) or (spelt and value.lower() in ("on", "off", "yes", "no"))


def _switch(value: Any) -> Any:
    return str(value).lower() in ("true", "on", "yes") if is_switch(value) else ...


def off(value: Any) -> Any:
    """`off` in whatever way YAML spells it; another value as it is."""
    return "off" if value is False or value in ("Off", "OFF") else value


def _in_percent(node: YamlNode) -> str:
    # 30 means 30 %.
    number = type(node.value) in (int, float) and 1 <= node.value <= 100 * HIGHEST
    return f"{node.value / 100:g}" if number else ""


def _place(text: str) -> str:
    if not re.fullmatch(PLACE, text):
        raise ValueError
    return text


Switch = Annotated[bool, BeforeValidator(_switch), WithJsonSchema({"anyOf": SWITCH})]
Probability = Accepts(lambda say, _: say.wants_number(least="0", most=f"{HIGHEST:g}"), _in_percent)
"""For editors. A threshold that is never reached holds all the same: whoever wrote it wants silence."""
REACHABLE = Field(json_schema_extra={"maximum": HIGHEST})
Login = Annotated[
    str,
    Field(min_length=1, max_length=60),
    ItemName(Messages.a_login),
    # People also write it as they mention somebody.
    AfterValidator(lambda login: login.removeprefix("@")),
]
Label = Annotated[str, Field(min_length=1, max_length=50), ItemName(Messages.a_label)]
Glob = Annotated[str, Field(min_length=1, max_length=200), ItemName(Messages.a_glob)]
ASSOCIATIONS = ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "NONE")
"""What an author can be to a repository (https://docs.github.com/graphql/reference/enums#commentauthorassociation)."""


def _association(text: str) -> str:
    if text.upper() not in ASSOCIATIONS:
        raise ValueError
    return text.upper()


Association = Annotated[
    str,
    AfterValidator(_association),
    Accepts(
        lambda say, code: say.either(first=say.comma().join(map(code, ASSOCIATIONS[:-1])), last=code(ASSOCIATIONS[-1])),
        lambda node: nearest(node.text.upper(), ASSOCIATIONS),
    ),
    WithJsonSchema({"enum": list(ASSOCIATIONS)}),
]
IssueType = Annotated[str, Field(min_length=1, max_length=50), ItemName(Messages.a_type)]
RepositoryName = Annotated[
    str,
    AfterValidator(_place),
    Accepts(lambda say, _: say.a_repository()),
    WithJsonSchema({"type": "string", "pattern": f"^{PLACE}$"}),
]
AsTuple = Strict(False)
Unique = AfterValidator(lambda values: tuple(dict.fromkeys(values)))


def wanted(field: FieldInfo, say: Messages, code: Quote) -> str:
    """What a setting accepts: "a number from 0 to 1". Literal words go through `code`."""
    facts = {type(fact): fact for fact in field.metadata}
    kind = _kind(field)
    if Accepts in facts:
        return str(facts[Accepts].words(say, code))
    if kind is bool or get_origin(kind) is Literal:
        *first, last = map(code, get_args(kind) or ("on", "off"))
        return say.either(first=say.comma().join(first), last=last)
    if get_origin(kind) is tuple:
        return say.wants_list(most=facts[MaxLen].max_length, what=facts[ItemName].words(say))
    if kind is str:
        return say.wants_text(what=facts[ItemName].words(say), most=facts[MaxLen].max_length)
    if issubclass(kind, BaseModel):
        return wants_keys(kind.model_fields, say, code)
    least, most = str(facts[Ge].ge), str(facts[Le].le)
    return say.wants_whole(least=least, most=most) if kind is int else say.wants_number(least=least, most=most)


def wants_keys(keys: Iterable[str], say: Messages, code: Quote) -> str:
    """A mapping with these keys."""
    return say.wants_mapping(keys=say.comma().join(map(code, keys)))


def meant(field: FieldInfo, node: YamlNode) -> str:
    """What was probably meant by a wrong value, as it should be written; empty if nothing is near."""
    kind = _kind(field)
    if own := next((fact for fact in field.metadata if isinstance(fact, Accepts)), None):
        return own.meant(node)
    if get_origin(kind) is Literal and isinstance(node.value, str):
        return nearest(node.value, get_args(kind))
    if kind is str and node.text and not isinstance(node.value, str):
        # A label called 1.0 is a number to YAML.
        return f'"{node.text[:40]}"'
    is_list = get_origin(kind) is tuple and node.text == printable(node.text) and not re.search(r'["\\]', node.text)
    items = [_as_item(get_args(kind)[0], piece.strip()) for piece in node.text.split(",")] if is_list else []
    return f"[{', '.join(items)}]" if items and all(items) else ""


def _as_item(kind: Any, text: str) -> str:
    """How to write one item of a list that lacks its brackets; empty if it is no valid item."""
    adapter = TypeAdapter(kind, config=ConfigDict(strict=True))
    for value, written in ((text, f'"{text}"'), (scalar(text), text)):
        try:
            adapter.validate_python(value)
        except ValidationError:
            continue
        return written
    return ""


def _kind(field: FieldInfo) -> Any:
    """The type without None, which nobody can write."""
    either = get_args(field.annotation)
    return next(kind for kind in either if kind is not NoneType) if NoneType in either else field.annotation


# Texts that have another name now.
_FORMER = {"perhaps": "possibly"}

_Wrong = tuple[Wording, str]


@cache
def texts() -> dict[str, Message[...]]:
    """All messages by name."""
    return declared(Messages)


def _checked(templates: Any) -> Any:
    """The templates, if all can be used; the type refuses what is no text."""
    found = []
    for name, template in templates.items() if isinstance(templates, dict) else ():
        place: tuple[str, ...] = (name,)
        if text := texts().get(name):
            problem = _wrong(text, template) if isinstance(template, str) and template else None
        else:
            place, problem = (name, "[key]"), _no_text(name)
        if problem:
            says, hint = problem
            said = PydanticCustomError("said", "said", {"says": says, "hint": hint})
            found.append(InitErrorDetails(type=said, loc=place, input=None))
    if found:
        raise ValidationError.from_exception_data("templates", found)
    return templates


def _no_text(name: str) -> _Wrong:
    hint = _FORMER.get(name) or nearest(name, texts())
    return lambda say, quote: say.unknown_text(name=say.quoted(value=quote(printable(name)))), hint


def _wrong(text: Message[...], template: str) -> _Wrong | None:
    """What is wrong with a template; None if nothing is, or if it is too long to check."""
    if len(template) > TEMPLATE_MAX:
        return None
    try:
        variables = Template.parse(template).variables
    except MalformedTemplate as malformed:
        piece = printable(str(malformed))
        return lambda say, quote: say.template_malformed(piece=say.quoted(value=quote(piece))), ""
    if other := next((name for name in variables if name not in text.variables), ""):
        name = printable(other)
        return lambda say, quote: say.unknown_variable(
            name=quote(text.name), variable=say.quoted(value=quote(name))
        ), nearest(other, text.variables)
    if len(variables) > GAPS_MAX:
        return lambda say, _: say.template_variables(most=GAPS_MAX), ""
    if found := printable(forbidden_part(template)):
        return lambda say, quote: say.template_forbidden(piece=say.quoted(value=quote(found))), ""
    return None


def _each_text(schema: dict[str, Any]) -> None:
    """Name each text to editors."""
    one = schema.pop("additionalProperties")
    schema["properties"] = {text.name: {"description": text.says, **one} for text in texts().values()}
    schema["additionalProperties"] = False


Templates = Annotated[
    dict[str, Annotated[str, Field(min_length=1, max_length=TEMPLATE_MAX), ItemName(Messages.a_text)]],
    BeforeValidator(_checked),
    Accepts(lambda say, _: say.wants_texts()),
    Field(json_schema_extra=_each_text),
]
