"""Reads the messages of each language from the `.toml` files, and compares them with the declarations."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Self

from bot.conversation.messages.command_messages import AnswerTexts, HelpTexts, MistakeTexts, SettingsTexts
from bot.conversation.messages.comment_messages import (
    CandidateTexts,
    CommentTexts,
    DigestTexts,
    LabelTexts,
    ScanTexts,
    SearchTexts,
)
from bot.conversation.messages.message import COUNT, Forms, Locale, declared
from bot.conversation.messages.template import Template


class Messages(
    DigestTexts,
    SettingsTexts,
    LabelTexts,
    ScanTexts,
    AnswerTexts,
    MistakeTexts,
    HelpTexts,
    SearchTexts,
    CandidateTexts,
    CommentTexts,
):
    """All messages of the bot, in one language."""

    def with_own(self, own: Mapping[str, Template]) -> Self:
        """Replace some messages by templates. A template replaces all plural forms. Unknown names have no effect."""
        if "people_decide" in own:
            # A repository's own text also replaces the variant for `label: add`.
            own = {"people_decide_still": own["people_decide"], **own}
        forms = {name: {"other": template} for name, template in own.items() if name in self._forms}
        return type(self)(self.locale, {**self._forms, **forms}, self)


LANGUAGES = ("en", "zh", "ja", "es", "de", "fr")
"""The bot's languages; zh is in simplified characters."""

PLAIN = frozenset(("digest_title", "scan_title", "label_rationale"))
"""Messages that GitHub shows as plain text."""

_ADJACENT = frozenset(("comma", "settings_hint"))
"""Messages that stand directly beside another text, perhaps a stranger's."""

_NUMBER_OPTIONAL = frozenset(("found", "related"))
"""Messages whose plural forms may omit the number."""

_CATEGORIES = frozenset(("zero", "one", "two", "few", "many", "other"))


class CatalogueError(Exception):
    """A catalogue does not match the declarations, because of an error in the program."""


@cache
def messages(language: str) -> Messages:
    """The messages in one language. Raises CatalogueError if the catalogue does not match the declarations."""
    data = tomllib.loads(
        resources.files("bot.conversation.messages").joinpath(f"{language}.toml").read_text(encoding="utf-8")
    )
    locale = Locale(language, data.pop("days"))
    return Messages(locale, read(language, data))


def english() -> Messages:
    """The English messages, which are the default, and the messages of the command line."""
    return messages("en")


def messages_for(language: str, own: Mapping[str, str]) -> Messages:
    """The messages in a language. A repository's `own` templates, made harmless, replace some messages."""
    default = messages(language)
    return default.with_own({name: _own_template(name, text) for name, text in own.items()}) if own else default


def _own_template(name: str, text: str) -> Template:
    template = Template.parse(" ".join(text.split()))
    return template if name in PLAIN else template.harmless(between=name in _ADJACENT)


def read(language: str, data: Mapping[str, Any]) -> dict[str, Forms]:
    """Read a catalogue's messages. Raises CatalogueError, which says how the catalogue and the declarations differ."""
    if unmatched := set(declared(Messages)) ^ set(data):
        raise CatalogueError(f"{language}: declared or written, and not both: {', '.join(sorted(unmatched))}")
    catalogue: dict[str, Forms] = {}
    for name, entry in data.items():
        forms = {"other": entry} if isinstance(entry, str) else entry
        catalogue[name] = {form: Template.parse(text) for form, text in forms.items()}
    for name, forms in catalogue.items() if language != "en" else ():
        variables = set(english().variables(name))
        if "other" not in forms or not set(forms) <= (_CATEGORIES if COUNT in variables else {"other"}):
            raise CatalogueError(f"{language}: {name} has the forms {', '.join(forms)}")
        for form, template in forms.items():
            used = set(template.variables)
            optional = {COUNT} if form != "other" or name in _NUMBER_OPTIONAL else set()
            if not used <= variables or variables - used - optional:
                raise CatalogueError(
                    f"{language}: {name} ({form}) has the variables {sorted(used)}, not {sorted(variables)}"
                )
    return catalogue
