"""All texts together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from bot.words.commands import AnswerTexts, HelpTexts, MistakeTexts
from bot.words.comment import CandidateTexts, CommentTexts, SearchTexts
from bot.words.digest import DigestTexts
from bot.words.scan import LabelTexts, ScanTexts
from bot.words.settings import SettingsTexts
from bot.words.template import Template


class Words(
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
    """Everything that the bot says, in one language."""

    def with_own(self, own: Mapping[str, Template]) -> Self:
        """The same with other templates for some texts; each holds for every number. Unknown names mean nothing."""
        if "people_decide" in own:
            # A repository that words it anew words it for both.
            own = {"people_decide_still": own["people_decide"], **own}
        forms = {name: {"other": template} for name, template in own.items() if name in self._forms}
        return type(self)(self.manner, {**self._forms, **forms}, self)
