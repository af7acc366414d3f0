"""The repository's own texts: each by a name that there is, with variables that it has, and nothing that does harm."""

from __future__ import annotations

from functools import cache
from typing import Any

from bot.config.kinds import JSON, UNUSABLE, Kind, Problems, Text, nearest
from bot.config.model import ConfigError, Quote, Says
from bot.config.tree import Mapping, Node, Scalar, printable
from bot.words import GAPS_MAX, LONGEST, SPACE, Declared, Malformed, Template, Words, declared, forbidden

_TEXT = Text(Words.a_text, LONGEST)
_LITERAL = r"(?:[^{}]|\{\{|\}\})*"
# As `bot.words.forbidden` has it, in the words of JSON Schema, which cannot say that case does not matter.
# Editors read it with JavaScript, for which only those of ASCII are letters.
_FORBIDDEN = (
    r"(?:^|[^0-9A-Za-z_/])@[0-9A-Za-z_-]|#[0-9]|(?:^|[^0-9A-Za-z])[Gg][Hh]-[0-9]|<!--"
    rf"|[Dd][Uu][Pp][Ll][Ii][Cc][Aa][Tt][Ee][{SPACE}]+[Oo][Ff]"
    rf"|[^{SPACE}]/(?:[Ii][Ss][Ss][Uu][Ee][Ss]|[Pp][Uu][Ll][Ll]|[Dd][Ii][Ss][Cc][Uu][Ss][Ss][Ii][Oo][Nn][Ss])/[0-9]"
)

# Texts that have another name now.
_FORMER = {"perhaps": "possibly"}


@cache
def texts() -> dict[str, Declared]:
    """Every text that there is."""
    return declared(Words)


class Templates(Kind):
    """A mapping of names of texts to templates. What is wrong is noted and left out; the others count."""

    def read(self, node: Node, problems: Problems) -> Any:
        if not isinstance(node, Mapping):
            return self.refuse(node, problems)
        read: dict[str, str] = {}
        for key, value in node.entries:
            text = texts().get(key.text)
            if text is None:
                problems.append(_unknown(key))
                continue
            template = _TEXT.read(value, problems)
            if template is UNUSABLE:
                continue
            if problem := _wrong(value, text, template):
                problems.append(problem)
            else:
                read[text.name] = template
        return read

    def schema(self) -> JSON:
        properties = {
            text.name: {"description": text.says, **_TEXT.schema(), "pattern": _pattern(text)}
            for text in texts().values()
        }
        harmless = {".*": {"not": {"pattern": _FORBIDDEN}}}
        return {
            "type": "object",
            "properties": properties,
            "patternProperties": harmless,
            "propertyNames": {"enum": list(properties)},
        }

    def wants(self, say: Words, code: Quote) -> str:
        return say.wants_texts()


def _unknown(key: Scalar) -> ConfigError:
    def says(say: Words, quote: Quote) -> str:
        return say.unknown_text(name=say.quoted(value=quote(printable(key.text))))

    hint = _FORMER.get(key.text) or nearest(key.text, texts())
    return ConfigError.saying(key.line, key.column, says, hint)


def _wrong(at: Node, text: Declared, template: str) -> ConfigError | None:
    """What is wrong with a template, None where nothing is."""

    def problem(says: Says, hint: str = "") -> ConfigError:
        return ConfigError.saying(at.line, at.column, says, hint)

    try:
        variables = Template.parse(template).variables
    except Malformed as malformed:
        piece = printable(str(malformed))
        return problem(lambda say, quote: say.template_malformed(piece=say.quoted(value=quote(piece))))
    if other := next((name for name in variables if name not in text.variables), ""):
        name = printable(other)
        return problem(
            lambda say, quote: say.unknown_variable(name=quote(text.name), variable=say.quoted(value=quote(name))),
            nearest(other, text.variables),
        )
    if len(variables) > GAPS_MAX:
        return problem(lambda say, _: say.template_variables(most=GAPS_MAX))
    if found := forbidden(template):
        piece = printable(found)
        return problem(lambda say, quote: say.template_forbidden(piece=say.quoted(value=quote(piece))))
    return None


def _pattern(text: Declared) -> str:
    gap = rf"\{{(?:{'|'.join(text.variables)})\}}"
    return rf"^(?:{_LITERAL}{gap}){{0,{GAPS_MAX}}}{_LITERAL}$" if text.variables else f"^{_LITERAL}$"
