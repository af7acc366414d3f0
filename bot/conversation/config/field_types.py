"""The types of the settings in `schema.py`. They describe valid values, and suggest corrections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
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
from bot.conversation.messages.catalogue import Message, Messages, declared, english
from bot.conversation.messages.template import GAPS_MAX, TEMPLATE_MAX, MalformedTemplate, Template, forbidden_part
from bot.domain.entities import OWNER_REPO
from bot.domain.likelihood import HIGHEST

SWITCH = [
    {"enum": [True, False, "on", "off", "yes", "no"]},
    # Kept separate from the enum, so that editors suggest only the lower-case words.
    {"type": "string", "pattern": "^(?:On|ON|Off|OFF|Yes|YES|No|NO)$"},
]
"""A switch, in JSON Schema."""


@dataclass(frozen=True)
class ItemName:
    """A message's key, such as `a_login` or `logins`. The message says what a text or list holds."""

    message: str


@dataclass(frozen=True)
class Accepts:
    """Words for a setting's accepted values, if its type does not say enough. `suggest` corrects a wrong value."""

    wording: Wording
    suggest: Callable[[YamlNode], str] = lambda node: ""


def is_switch(value: Any) -> bool:
    """Whether a value is a boolean, or one of the words `on`, `off`, `yes` and `no` (booleans in YAML 1.1)."""
    usual_case = isinstance(value, str) and value in (value.lower(), value.upper(), value.capitalize())
    return isinstance(value, bool) or (usual_case and value.lower() in ("on", "off", "yes", "no"))


def _switch(value: Any) -> Any:
    # Return Ellipsis for a value that is no switch. No type accepts Ellipsis, so pydantic reports an error.
    return str(value).lower() in ("true", "on", "yes") if is_switch(value) else Ellipsis


def normalize_off(value: Any) -> Any:
    """`off` for every spelling that YAML allows; any other value unchanged."""
    return "off" if value is False or value in ("Off", "OFF") else value


def _from_percent(node: YamlNode) -> str:
    # Somebody who writes 30 means 30 %.
    is_percentage = type(node.value) in (int, float) and 1 <= node.value <= 100 * HIGHEST
    return f"{node.value / 100:g}" if is_percentage else ""


def _repository(text: str) -> str:
    if not re.fullmatch(OWNER_REPO, text):
        raise ValueError
    return text


Switch = Annotated[bool, BeforeValidator(_switch), WithJsonSchema({"anyOf": SWITCH})]
Probability = Accepts(lambda say, _: say.wants_number(least="0", most=f"{HIGHEST:g}"), _from_percent)
MAXIMUM_FOR_EDITORS = Field(json_schema_extra={"maximum": HIGHEST})
"""Editors warn of a threshold that no issue can reach. The parser accepts it: some maintainers want a silent bot."""
Login = Annotated[
    str,
    Field(min_length=1, max_length=60),
    ItemName("a_login"),
    # People also write a login as a mention.
    AfterValidator(lambda login: login.removeprefix("@")),
]
Label = Annotated[str, Field(min_length=1, max_length=50), ItemName("a_label")]
Glob = Annotated[str, Field(min_length=1, max_length=200), ItemName("a_glob")]
ASSOCIATIONS = ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "NONE")
"""The relations of an author to a repository (https://docs.github.com/graphql/reference/enums#commentauthorassociation)."""


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
IssueType = Annotated[str, Field(min_length=1, max_length=50), ItemName("a_type")]
RepositoryName = Annotated[
    str,
    AfterValidator(_repository),
    Accepts(lambda say, _: say.a_repository()),
    WithJsonSchema({"type": "string", "pattern": f"^{OWNER_REPO}$"}),
]
# YAML has lists, but no tuples. A strict model would refuse a list where the type is a tuple.
AsTuple = Strict(False)
Unique = AfterValidator(lambda values: tuple(dict.fromkeys(values)))


def accepted_values(field: FieldInfo, say: Messages, code: Quote) -> str:
    """The values that a setting accepts, such as "a number from 0 to 1". `code` formats literal words."""
    metadata = {type(item): item for item in field.metadata}
    kind = _kind(field)
    if Accepts in metadata:
        return str(metadata[Accepts].wording(say, code))
    if kind is bool or get_origin(kind) is Literal:
        *first, last = map(code, get_args(kind) or ("on", "off"))
        return say.either(first=say.comma().join(first), last=last)
    if get_origin(kind) is tuple:
        return say.wants_list(most=metadata[MaxLen].max_length, what=say.fill(metadata[ItemName].message, {}))
    if kind is str:
        return say.wants_text(what=say.fill(metadata[ItemName].message, {}), most=metadata[MaxLen].max_length)
    if issubclass(kind, BaseModel):
        return accepted_keys(kind.model_fields, say, code)
    least, most = str(metadata[Ge].ge), str(metadata[Le].le)
    return say.wants_whole(least=least, most=most) if kind is int else say.wants_number(least=least, most=most)


def accepted_keys(keys: Iterable[str], say: Messages, code: Quote) -> str:
    """Words for a mapping with these keys."""
    return say.wants_mapping(keys=say.comma().join(map(code, keys)))


def likely_meant(field: FieldInfo, node: YamlNode) -> str:
    """The valid value that the author of a wrong value probably meant, as YAML; empty if nothing is similar."""
    kind = _kind(field)
    if accepts := next((item for item in field.metadata if isinstance(item, Accepts)), None):
        return accepts.suggest(node)
    if get_origin(kind) is Literal and isinstance(node.value, str):
        return nearest(node.value, get_args(kind))
    if kind is str and node.text and not isinstance(node.value, str):
        # YAML reads a label called 1.0 as a number.
        return f'"{node.text[:40]}"'
    if get_origin(kind) is not tuple or node.text != printable(node.text) or re.search(r'["\\]', node.text):
        return ""
    items = [_as_item(get_args(kind)[0], piece.strip()) for piece in node.text.split(",")]
    return f"[{', '.join(items)}]" if all(items) else ""


def _as_item(kind: Any, text: str) -> str:
    """How to write one item of a list that lacks its brackets: quoted, else unquoted; empty if neither is valid."""
    adapter = TypeAdapter(kind, config=ConfigDict(strict=True))
    for value, written in ((text, f'"{text}"'), (scalar(text), text)):
        with suppress(ValidationError):
            adapter.validate_python(value)
            return written
    return ""


def _kind(field: FieldInfo) -> Any:
    """The type without None. Only a default can be None: the parser refuses `null` in a file."""
    options = get_args(field.annotation)
    return next(kind for kind in options if kind is not NoneType) if NoneType in options else field.annotation


_Problem = tuple[Wording, str]  # the message, and a hint

TRANSLATABLE = "translatable"
"""The name of pydantic's error type for errors whose context holds a `_Problem`."""


def _check_templates(templates: Any) -> Any:
    """The templates, if all are valid. Values that are not texts are left to the type's own validation."""
    errors = []
    by_name: dict[str, Any] = templates if isinstance(templates, dict) else {}
    for name, template in by_name.items():
        loc: tuple[str, ...] = (name,)
        if message := declared().get(name):
            problem = _template_problem(message, template)
        else:
            loc, problem = (name, "[key]"), _unknown_text(name)  # pydantic's mark for an error in the key itself
        if problem:
            wording, hint = problem
            error = PydanticCustomError(TRANSLATABLE, TRANSLATABLE, {"wording": wording, "hint": hint})
            errors.append(InitErrorDetails(type=error, loc=loc, input=None))
    if errors:
        raise ValidationError.from_exception_data("templates", errors)
    return templates


def _unknown_text(name: str) -> _Problem:
    hint = nearest(name, declared())
    return (lambda say, quote: say.unknown_text(name=say.quoted(value=quote(printable(name))))), hint


def _template_problem(message: Message, template: Any) -> _Problem | None:
    """The problem in a template; None if it is valid, or if it is not a text or has a wrong length."""
    if not isinstance(template, str) or not 0 < len(template) <= TEMPLATE_MAX:
        return None
    try:
        variables = Template.parse(template).variables
    except MalformedTemplate as malformed:
        piece = printable(str(malformed))
        return (lambda say, quote: say.template_malformed(piece=say.quoted(value=quote(piece)))), ""
    known = english().variables(message.name)
    if unknown := next((name for name in variables if name not in known), ""):
        name = printable(unknown)
        return (
            lambda say, quote: say.unknown_variable(name=quote(message.name), variable=say.quoted(value=quote(name))),
            nearest(unknown, known),
        )
    if len(variables) > GAPS_MAX:
        return (lambda say, _: say.template_variables(most=GAPS_MAX)), ""
    if forbidden := printable(forbidden_part(template)):
        return (lambda say, quote: say.template_forbidden(piece=say.quoted(value=quote(forbidden)))), ""
    return None


def _list_texts(schema: dict[str, Any]) -> None:
    """List the texts' names in the schema, so that editors can complete a name."""
    template = schema.pop("additionalProperties")
    schema["properties"] = {one.name: {"description": one.purpose, **template} for one in declared().values()}
    schema["additionalProperties"] = False


Templates = Annotated[
    dict[str, Annotated[str, Field(min_length=1, max_length=TEMPLATE_MAX), ItemName("a_text")]],
    BeforeValidator(_check_templates),
    Accepts(lambda say, _: say.wants_texts()),
    Field(json_schema_extra=_list_texts),
]
