"""The bot's messages. `purposes.toml` has the name and purpose of each message; a file for each language has the texts.

The gaps of the English text, such as `{count}`, are a message's variables. Call a message like a method, with the
variables as keywords: `say.results(count=2)`. Tests compare the files with each other and with the calls.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, Self

from bot.conversation.messages.locale import Locale
from bot.conversation.messages.template import Template

COUNT = "count"
"""The variable that chooses the plural form: "1 result", "2 results"."""

Forms = Mapping[str, Template]
"""The forms of a message by CLDR's plural categories; `other` always exists."""


class Messages:
    """All messages in one language. A repository's templates may replace some; `plain` has the originals. Immutable."""

    def __init__(self, locale: Locale, forms: Mapping[str, Forms], plain: Self | None = None) -> None:
        self.locale = locale
        self._forms = forms
        self.plain: Self = plain or self

    def __getattr__(self, name: str) -> Callable[..., str]:
        if name.startswith("_") or name not in self._forms:
            raise AttributeError(f"there is no message {name!r}")
        return lambda **values: self.fill(name, values)

    def variables(self, name: str) -> tuple[str, ...]:
        forms = self._forms[name]
        gaps = [gap for form in forms.values() for gap in form.variables]
        plural_variable = [COUNT] if len(forms) > 1 else []
        return tuple(dict.fromkeys([*gaps, *plural_variable]))

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """Fill the message of this name. Values are Markdown, an `int`, a share (`float`), a `date` or a `datetime`."""
        forms = self._forms[name]
        count = values.get(COUNT)
        form = self.locale.form(count) if isinstance(count, int) and len(forms) > 1 else "other"
        return forms.get(form, forms["other"]).fill({key: self.locale.shown(value) for key, value in values.items()})

    def with_own(self, own: Mapping[str, Template]) -> Self:
        """Replace some messages by templates. A template replaces all plural forms. Unknown names have no effect."""
        if "people_decide" in own:
            # Also replace `people_decide_still`, the variant of `people_decide` for `label: add`.
            own = {"people_decide_still": own["people_decide"], **own}
        forms = {name: {"other": template} for name, template in own.items() if name in self._forms}
        return type(self)(self.locale, {**self._forms, **forms}, self)


class Message(NamedTuple):
    """A message's name and purpose, and the section of `purposes.toml` that has it."""

    name: str
    purpose: str
    section: str


@cache
def declared() -> dict[str, Message]:
    """All messages by name, in the order of docs/words.md."""
    sections = _read("purposes").items()
    return {name: Message(name, purpose, section) for section, texts in sections for name, purpose in texts.items()}


LANGUAGES = ("en", "zh", "ja", "es", "de", "fr")
"""The bot's languages; zh is in simplified characters."""

WITHOUT_MARKDOWN = frozenset(("digest_title", "scan_title", "label_rationale"))
"""Messages that GitHub shows as plain text."""

_ADJACENT = frozenset(("comma", "settings_hint"))
"""Messages that touch another text, which a stranger may have written."""


@cache
def messages(language: str) -> Messages:
    """The messages in one language."""
    data = _read(language)
    locale = Locale(language, data.pop("days"))
    forms = {name: {"other": entry} if isinstance(entry, str) else entry for name, entry in data.items()}
    parsed = {name: {form: Template.parse(text) for form, text in texts.items()} for name, texts in forms.items()}
    return Messages(locale, parsed)


def _read(name: str) -> dict[str, Any]:
    file = resources.files("bot.conversation.messages").joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def english() -> Messages:
    """The English messages: the default, and the messages of the command line."""
    return messages("en")


def messages_for(language: str, own: Mapping[str, str]) -> Messages:
    """The messages in a language. A repository's `own` templates, made harmless, replace some messages."""
    default = messages(language)
    return default.with_own({name: _own_template(name, text) for name, text in own.items()}) if own else default


def _own_template(name: str, text: str) -> Template:
    template = Template.parse(" ".join(text.split()))
    return template if name in WITHOUT_MARKDOWN else template.harmless(between=name in _ADJACENT)
