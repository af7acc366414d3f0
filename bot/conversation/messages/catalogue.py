"""Reads the messages of each language from the files beside this module, and checks them against the declarations."""

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
        """Replace some messages by templates, each for every number. Unknown names are ignored."""
        if "people_decide" in own:
            # A repository's own wording holds for both.
            own = {"people_decide_still": own["people_decide"], **own}
        forms = {name: {"other": template} for name, template in own.items() if name in self._forms}
        return type(self)(self.locale, {**self._forms, **forms}, self)


LANGUAGES = ("en", "zh", "ja", "es", "de", "fr")
"""The bot's languages; zh is in simplified characters."""

PLAIN = frozenset(("digest_title", "scan_title", "label_rationale"))
"""Messages that GitHub shows as plain text."""

_BETWEEN = frozenset(("comma", "settings_hint"))
"""Messages that stand directly beside other text, which may be a stranger's."""

_UNSAID = frozenset(("found", "related"))
"""Messages with plural forms that need not show the number."""

_CATEGORIES = frozenset(("zero", "one", "two", "few", "many", "other"))


class CatalogueError(Exception):
    """A catalogue differs from the declarations, which is an error of the program."""


@cache
def messages(language: str) -> Messages:
    """The bot's texts in one of its languages. Raises Unsound if the catalogue is not as declared."""
    data = tomllib.loads(
        resources.files("bot.conversation.messages").joinpath(f"{language}.toml").read_text(encoding="utf-8")
    )
    locale = Locale(language, data.pop("days"))
    return Messages(locale, read(language, data))


def english() -> Messages:
    """The English messages, the default and those of the command line."""
    return messages("en")


def messages_for(language: str, own: Mapping[str, str]) -> Messages:
    """The messages in a language; a repository's `own` templates, made harmless, replace some."""
    spoken = messages(language)
    return spoken.with_own({name: _own(name, text) for name, text in own.items()}) if own else spoken


def _own(name: str, text: str) -> Template:
    template = Template.parse(" ".join(text.split()))
    return template if name in PLAIN else template.harmless(between=name in _BETWEEN)


def read(language: str, data: Mapping[str, Any]) -> dict[str, Forms]:
    """Read the texts of a catalogue. Raises Unsound naming what is wrong."""
    texts = declared(Messages)
    if wrong := set(texts) ^ set(data):
        raise CatalogueError(f"{language}: declared or written, and not both: {', '.join(sorted(wrong))}")
    found: dict[str, Forms] = {}
    for name, written in data.items():
        forms = {"other": written} if isinstance(written, str) else written
        counted = COUNT in texts[name].variables
        if "other" not in forms or not set(forms) <= (_CATEGORIES if counted else {"other"}):
            raise CatalogueError(f"{language}: {name} has the forms {', '.join(forms)}")
        found[name] = {form: Template.parse(text) for form, text in forms.items()}
        variables = set(texts[name].variables)
        for form, template in found[name].items():
            has = set(template.variables)
            # "One" can be said without a number.
            may_lack = {COUNT} if form != "other" or name in _UNSAID else set()
            if not has <= variables or variables - has - may_lack:
                raise CatalogueError(
                    f"{language}: {name} ({form}) has the variables {sorted(has)}, not {sorted(variables)}"
                )
    return found
