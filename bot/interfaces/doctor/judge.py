"""The judge: whether it is reached, which model answers, whether in the form asked for, and what 100 issues cost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.domain.errors import SettingsError
from bot.domain.judge_protocol import JudgeIssue, JudgeQuestion, JudgeVerdict
from bot.interfaces.doctor.finding import Finding, warning, well
from bot.platform.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.search.judge.prompt import Endpoint

_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_NEW = JudgeIssue(3, "Export to PDF stops at page 7", "It raises PdfRenderError.", "open", _DAY)
_SAME = JudgeIssue(1, "PDF export ends early", "PdfRenderError when page 7 is exported.", "open", _DAY)
_OTHER = JudgeIssue(2, "Please add a dark mode", "The settings are too bright at night.", "open", _DAY)
# Tokens of a usual question, and issues of a hundred that are asked about at the usual floor (docs/guides/judge.md).
_IN, _OUT, _ASKED = 1_300, 160, 30


def judge(settings: Settings, endpoint: Callable[[Settings], Endpoint | None]) -> Iterator[Finding]:
    """Nothing where no judge is named. One question is asked, about made-up issues."""
    if not settings.judge_url and not settings.judge_model:
        return
    mend = "Until then the probability alone decides. Mend it, or see docs/guides/judge.md."
    try:
        chosen = endpoint(settings)
    except SettingsError as problem:
        yield warning("judge", str(problem), mend)
        return
    assert chosen is not None
    from bot.search.judge.prompt import EndpointError, Price, UnusableAnswer, question, read_answer

    asked = question(JudgeQuestion(_NEW, (_SAME, _OTHER)))
    try:
        written = chosen.ask(asked, max(settings.judge_seconds, 30.0))
        said = read_answer(written.text, asked)
    except EndpointError as failure:
        yield warning("judge", str(failure), mend)
        return
    except UnusableAnswer as useless:
        yield warning("judge", f"{chosen.model} answers, but {useless}", "Take a model that writes JSON. " + mend)
        return
    price = Price(settings.judge_price_in, settings.judge_price_out)
    cost = _ASKED * price.of(_IN, _OUT)
    costs = f"a hundred issues cost about {cost:.2f}" if cost else "DOPPEL_JUDGE_PRICE_IN and _OUT are not set"
    right = said[1].verdict is JudgeVerdict.SAME and said[2].verdict is JudgeVerdict.DIFFERENT
    texts = f"texts of {settings.remote_text} repositories may go there"
    if right:
        yield well("judge", f"{settings.judge_url}: {written.model} answers in the form asked for; {costs}; {texts}")
    else:
        says = f"{written.model} answers, but takes two reports of one error for different, or others for the same"
        yield warning("judge", says, "Take a larger model: see docs/guides/judge.md.")
