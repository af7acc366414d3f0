"""A line of the doctor's report (`Finding`), and the checks of settings, credentials, embedding model and judge."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bot.domain.errors import SettingsError
from bot.domain.judge_protocol import JudgeVerdict
from bot.platform.settings import Settings, misspelt, parts_of_an_app
from bot.platform.settings.loading import credentials_file
from bot.search.embedding import Embedder, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.search.judge.prompt import Endpoint


class CheckStatus(StrEnum):
    """The result of a check. With a warning, Doppel still works."""

    WELL = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `mend` says what to do, and is empty if nothing need be done."""

    health: CheckStatus
    subject: str
    says: str
    mend: str = ""


def well(subject: str, says: str) -> Finding:
    return Finding(CheckStatus.WELL, subject, says)


def warning(subject: str, says: str, mend: str) -> Finding:
    return Finding(CheckStatus.WARNING, subject, says, mend)


def broken(subject: str, says: str, mend: str) -> Finding:
    return Finding(CheckStatus.BROKEN, subject, says, mend)


# Characters.
SHORTEST_SECRET = 16


def unread_settings() -> Iterator[Finding]:
    """Variables that nothing reads although they look like settings."""
    for name, near in misspelt().items():
        mend = f"Did you mean {near}?" if near else "Remove it, or see docs/config.md for the names that are read."
        yield warning(name, "nothing reads a setting of this name", mend)


def credentials(settings: Settings) -> Iterator[Finding]:
    """Whether there is an App with all its credentials, and whether people can sign in."""
    if settings.new:
        mend = "`doppel serve` opens a page that creates one; for one that exists, set APP_ID, PRIVATE_KEY_PATH and "
        yield broken("GitHub App", "none is set up yet", f"{mend}WEBHOOK_SECRET.")
        return
    key = "generate a key on the App's page, and name its file in PRIVATE_KEY_PATH"
    for name, value, source in (
        ("APP_ID", settings.app_id, "the number on the App's page on GitHub"),
        ("PRIVATE_KEY", settings.private_key, key),
    ):
        yield well(name, "set") if value else broken(name, "not set", f"Set it: {source}.")
    if not settings.webhook_secrets:
        mend = "Choose a long random text, and enter it here and on the App's page."
        yield broken("WEBHOOK_SECRET", "not set, so that nothing can be accepted", mend)
    elif min(map(len, settings.webhook_secrets)) < SHORTEST_SECRET:
        mend = f"Choose one of at least {SHORTEST_SECRET} characters; WEBHOOK_SECRET_PREVIOUS bridges the change."
        yield warning("WEBHOOK_SECRET", "short enough to be guessed", mend)
    else:
        yield well("WEBHOOK_SECRET", "set")
    path, parts = credentials_file(settings.home), ", ".join(parts_of_an_app())
    # If the folder may not be read, the checks of the databases report it.
    with suppress(PermissionError):
        if parts and path.is_file():
            says = f"{path} is not read, since the environment or .env has {parts}: an App comes from one place"
            mend = "Take them away for the App that was set up in the browser, or the file where it is not that one."
            yield warning("app.env", says, mend)
    names = {"GITHUB_CLIENT_ID": settings.client_id, "GITHUB_CLIENT_SECRET": settings.client_secret}
    missing = [name for name, value in names.items() if not value]
    if len(missing) == 1:
        yield warning("dashboard", f"off, since {missing[0]} is not set", "Set it, or neither of the two.")
    else:
        off = f"off; {' and '.join(names)} switch it on, as docs/dashboard.md says"
        yield well("dashboard", off if missing else "on, at /dashboard")


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


def judge(settings: Settings, endpoint: Callable[[Settings], Endpoint | None]) -> Iterator[Finding]:
    """Ask the judge one question about made-up issues. No finding if no judge is configured."""
    if not settings.judge_url and not settings.judge_model:
        return
    mend = "Until then the probability alone decides. Mend it, or see docs/guides/judge.md."
    try:
        chosen = endpoint(settings)
    except SettingsError as problem:
        yield warning("judge", str(problem), mend)
        return
    assert chosen is not None
    from bot.search.judge.prompt import EndpointError, Price, UnusableAnswer, read_answer, sample_question

    query, began = sample_question(), time.monotonic()
    try:
        answer = chosen.ask(query, max(settings.judge_seconds, 30.0))
        verdicts = read_answer(answer.text, query)
    except EndpointError as failure:
        yield warning("judge", str(failure), mend)
        return
    except UnusableAnswer as useless:
        yield warning("judge", f"{chosen.model} answers, but {useless}", "Take a model that writes JSON. " + mend)
        return
    took = time.monotonic() - began
    price = Price(settings.judge_price_in, settings.judge_price_out)
    cost = _ASKED * price.of(_IN, _OUT)
    costs = f"a hundred issues cost about {cost:.2f}" if cost else "DOPPEL_JUDGE_PRICE_IN and _OUT are not set"
    correct = verdicts[1].verdict is JudgeVerdict.SAME and verdicts[2].verdict is JudgeVerdict.DIFFERENT
    texts = f"texts of {settings.remote_text} repositories may go there"
    if correct and took > settings.judge_seconds:
        says = f"{answer.model} took {took:.1f} s, and an issue waits {settings.judge_seconds:g} s"
        yield warning("judge", says, "Raise DOPPEL_JUDGE_SECONDS, or take a faster model.")
    elif correct:
        form = f"{answer.model} answers in the form asked for, in {took:.1f} s"
        yield well("judge", f"{settings.judge_url}: {form}; {costs}; {texts}")
    else:
        says = f"{answer.model} answers, but takes two reports of one error for different, or others for the same"
        yield warning("judge", says, "Take a larger model: see docs/guides/judge.md.")
