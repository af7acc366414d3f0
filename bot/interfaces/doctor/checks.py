"""A line of the doctor's report (`Finding`), and the checks of settings, credentials, embedding model and judge."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from bot.domain.errors import SettingsError
from bot.domain.judge_protocol import JudgeVerdict
from bot.platform.settings import Settings, parts_of_an_app
from bot.platform.settings.loading import credentials_file
from bot.search.embedding import Embedder, EmbeddingError

if TYPE_CHECKING:
    from bot.search.judge.prompt import Endpoint


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report, with what to do in `mend`, if anything. With a warning, Doppel still works."""

    health: Literal["ok", "warning", "broken"]
    subject: str
    says: str
    mend: str = ""


well = partial(Finding, "ok")
warning = partial(Finding, "warning")
broken = partial(Finding, "broken")

# Characters.
SHORTEST_SECRET = 16


def credentials(settings: Settings) -> Iterator[Finding]:
    """Whether there is an App with all its credentials, and whether people can sign in."""
    try:
        settings.require_app()
        yield well("GitHub App", "id, key and secret are set")
    except SettingsError as lacking:
        says, _, advice = str(lacking).partition(". ")
        yield broken("GitHub App", says, f"{advice} The App's page has the id, makes keys and takes the secret.")
    if min(map(len, settings.webhook_secrets), default=SHORTEST_SECRET) < SHORTEST_SECRET:
        mend = f"Choose one of at least {SHORTEST_SECRET} characters; WEBHOOK_SECRET_PREVIOUS bridges the change."
        yield warning("WEBHOOK_SECRET", "short enough to be guessed", mend)
    path, parts = credentials_file(settings.home), ", ".join(parts_of_an_app())
    if parts and os.access(path, os.F_OK):
        says = f"{path} is not read, since the environment or .env has {parts}: an App comes from one place"
        mend = "Take them away for the App that was set up in the browser, or the file where it is not that one."
        yield warning("app.env", says, mend)
    if bool(settings.client_id) != bool(settings.client_secret):
        says = "off, since only one of GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET is set"
        yield warning("dashboard", says, "Set both, or neither.")
    else:
        off = "off; docs/dashboard.md says how to switch it on"
        yield well("dashboard", "on, at /dashboard" if settings.client_id else off)


def model(settings: Settings, chosen: Embedder | None) -> Finding:
    """Whether the embedding model works. Without it the index still finds issues by their words."""
    if chosen is None:
        return well("model", "none is wanted: the index goes by words alone")
    try:
        dimensions = chosen.embed(["doppel"]).shape[1]
    except EmbeddingError as failure:
        mend = "Until then the index goes by words alone. Mend it, or see DOPPEL_EMBEDDING_MODEL in docs/config.md."
        return warning("model", str(failure), mend)
    goes = f"; texts of {settings.remote_text} repositories may go there" if chosen.remote else ""
    return well("model", f"{chosen.name} answers with {dimensions} dimensions{goes}")


# A typical question has _IN tokens and its answer _OUT. At the default floor, the bot asks the judge about _ASKED of
# a hundred issues (docs/guides/judge.md).
_IN, _OUT, _ASKED = 1_300, 160, 30


def judge(settings: Settings, endpoint: Callable[[Settings], Endpoint | None]) -> Finding:
    """Ask the judge, which must be configured, one question about made-up issues."""
    from bot.search.judge.prompt import EndpointError, Price, UnusableAnswer, read_answer, sample_question

    mend = "Until then the probability alone decides. Mend it, or see docs/guides/judge.md."
    query = sample_question()
    try:
        chosen = endpoint(settings)
        assert chosen is not None
        began = time.monotonic()
        # Wait longer than the bot would, to tell how slow a slow model is.
        answer = chosen.ask(query, max(settings.judge_seconds, 30.0))
        took = time.monotonic() - began
        verdicts = read_answer(answer.text, query)
    except (SettingsError, EndpointError) as failure:
        return warning("judge", str(failure), mend)
    except UnusableAnswer as useless:
        says = f"{settings.judge_model} answers, but {useless}"
        return warning("judge", says, f"Take a model that writes JSON. {mend}")
    # The sample's issue 1 is the same, its issue 2 is different.
    if (verdicts[1].verdict, verdicts[2].verdict) != (JudgeVerdict.SAME, JudgeVerdict.DIFFERENT):
        says = f"{answer.model} answers, but takes two reports of one error for different, or others for the same"
        return warning("judge", says, "Take a larger model: see docs/guides/judge.md.")
    if took > settings.judge_seconds:
        says = f"{answer.model} took {took:.1f} s, and an issue waits {settings.judge_seconds:g} s"
        return warning("judge", says, "Raise DOPPEL_JUDGE_SECONDS, or take a faster model.")
    cost = _ASKED * Price(settings.judge_price_in, settings.judge_price_out).of(_IN, _OUT)
    costs = f"a hundred issues cost about {cost:.2f}" if cost else "DOPPEL_JUDGE_PRICE_IN and _OUT are not set"
    form = f"{answer.model} answers in the form asked for, in {took:.1f} s"
    texts = f"texts of {settings.remote_text} repositories may go there"
    return well("judge", f"{settings.judge_url}: {form}; {costs}; {texts}")
