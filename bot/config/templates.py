"""The repository's own texts: each by a name that there is, with variables that it has, and nothing that does harm."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from bot.config.kinds import Named, Wants
from bot.config.problems import Says, nearest, printable
from bot.words import GAPS_MAX, LONGEST, Declared, Malformed, Template, Words, declared, forbidden

# Texts that have another name now.
_FORMER = {"perhaps": "possibly"}

_Problem = tuple[Says, str]


@cache
def texts() -> dict[str, Declared]:
    """Every text that there is."""
    return declared(Words)


def _checked(templates: Any) -> Any:
    """The templates, if each is fit to be used; what is not even a text is refused by its type."""
    found = []
    for name, template in templates.items() if isinstance(templates, dict) else ():
        place: tuple[str, ...] = (name,)
        if text := texts().get(name):
            problem = _wrong(text, template) if isinstance(template, str) and template else None
        else:
            place, problem = (name, "[key]"), _unknown(name)
        if problem:
            says, hint = problem
            said = PydanticCustomError("said", "said", {"says": says, "hint": hint})
            found.append(InitErrorDetails(type=said, loc=place, input=None))
    if found:
        raise ValidationError.from_exception_data("templates", found)
    return templates


def _unknown(name: str) -> _Problem:
    hint = _FORMER.get(name) or nearest(name, texts())
    return lambda say, quote: say.unknown_text(name=say.quoted(value=quote(printable(name)))), hint


def _wrong(text: Declared, template: str) -> _Problem | None:
    """What is wrong with a template, None where nothing is, or it is too long to be looked at."""
    if len(template) > LONGEST:
        return None
    try:
        variables = Template.parse(template).variables
    except Malformed as malformed:
        piece = printable(str(malformed))
        return lambda say, quote: say.template_malformed(piece=say.quoted(value=quote(piece))), ""
    if other := next((name for name in variables if name not in text.variables), ""):
        name = printable(other)
        return lambda say, quote: say.unknown_variable(
            name=quote(text.name), variable=say.quoted(value=quote(name))
        ), nearest(other, text.variables)
    if len(variables) > GAPS_MAX:
        return lambda say, _: say.template_variables(most=GAPS_MAX), ""
    if found := printable(forbidden(template)):
        return lambda say, quote: say.template_forbidden(piece=say.quoted(value=quote(found))), ""
    return None


def _each_text(schema: dict[str, Any]) -> None:
    """Name each text to editors."""
    one = schema.pop("additionalProperties")
    schema["properties"] = {text.name: {"description": text.says, **one} for text in texts().values()}
    schema["additionalProperties"] = False


Templates = Annotated[
    dict[str, Annotated[str, Field(min_length=1, max_length=LONGEST), Named(Words.a_text)]],
    BeforeValidator(_checked),
    Wants(lambda say, _: say.wants_texts()),
    Field(json_schema_extra=_each_text),
]
