"""A line of the doctor's report (`Finding`), and the checks of credentials, embedding model, judge and GitHub."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from bot.domain.entities import RepoRef
from bot.domain.errors import GitHubError, KeyRefused, Retryable, SettingsError, access_refused
from bot.domain.formats import counted
from bot.domain.judge_protocol import JudgeVerdict
from bot.github.app import REFUSED_SIGNATURE, AppClient
from bot.github.repository import RepoClient
from bot.platform.settings import Settings, parts_of_an_app
from bot.platform.settings.loading import credentials_file
from bot.search.embedding import Embedder, EmbeddingError

if TYPE_CHECKING:
    from bot.search.judge.prompt import Endpoint


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `mend` says what to do, if anything. With a warning, Doppel still works."""

    health: Literal["ok", "warning", "broken"]
    subject: str
    says: str
    mend: str = ""


well = partial(Finding, "ok")
warning = partial(Finding, "warning")
broken = partial(Finding, "broken")

SHORTEST_SECRET = 16


def credentials(settings: Settings) -> Iterator[Finding]:
    """Whether there is an App with all its credentials, and whether people can sign in."""
    try:
        settings.require_app()
        yield well("GitHub App", "id, key and secret are set")
    except SettingsError as lacking:
        says, _, advice = str(lacking).partition(". ")
        yield broken("GitHub App", says, f"{advice} The App's page has the id; make a key and set the secret there.")
    if min(map(len, settings.webhook_secrets), default=SHORTEST_SECRET) < SHORTEST_SECRET:
        mend = f"Choose at least {SHORTEST_SECRET} characters. WEBHOOK_SECRET_PREVIOUS keeps the old secret valid."
        yield warning("WEBHOOK_SECRET", "short enough to be guessed", mend)
    path, parts = credentials_file(settings.home), ", ".join(parts_of_an_app())
    if parts and os.access(path, os.F_OK):
        says = f"{path} is not read: the environment or .env has {parts}, and then must have all the App's credentials"
        mend = "To use the App that was set up in the browser, remove those variables. Otherwise delete the file."
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
        return well("model", "DOPPEL_EMBEDDING_MODEL is none: the index searches by words alone")
    try:
        dimensions = chosen.embed(["doppel"]).shape[1]
    except EmbeddingError as failure:
        mend = "See DOPPEL_EMBEDDING_MODEL in docs/config.md. Until the model works, the index searches by words alone."
        return warning("model", str(failure), mend)
    goes = f"; texts of {settings.remote_text} repositories may go there" if chosen.remote else ""
    return well("model", f"{chosen.name} answers with {dimensions} dimensions{goes}")


# A typical question has _IN tokens and its answer _OUT. Of a hundred issues, the bot asks the judge
# about _ASKED at most, with the default `judge.floor` (docs/guides/judge.md).
_IN, _OUT, _ASKED = 1_300, 160, 30


def judge(settings: Settings, endpoint: Callable[[Settings], Endpoint | None]) -> Finding:
    """Ask the judge, which must be configured, one question about made-up issues."""
    from bot.search.judge.prompt import EndpointError, Price, UnusableAnswer, read_answer, sample_question

    mend = "See docs/guides/judge.md. Until the judge works, the probability alone decides."
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
    # The sample's candidate 1 reports the same as the new issue, and candidate 2 does not.
    if (verdicts[1].verdict, verdicts[2].verdict) != (JudgeVerdict.SAME, JudgeVerdict.DIFFERENT):
        says = f"{answer.model} answers, but calls reports of one error different, or reports of two errors the same"
        return warning("judge", says, "Take a larger model: see docs/guides/judge.md.")
    if took > settings.judge_seconds:
        says = f"{answer.model} took {took:.1f} s, and an issue waits {settings.judge_seconds:g} s"
        return warning("judge", says, "Raise DOPPEL_JUDGE_SECONDS, or take a faster model.")
    cost = _ASKED * Price(settings.judge_price_in, settings.judge_price_out).of(_IN, _OUT)
    costs = f"a hundred issues cost about {cost:.2f}" if cost else "DOPPEL_JUDGE_PRICE_IN and _OUT are not set"
    form = f"{answer.model} answers in the form asked for, in {took:.1f} s"
    texts = f"texts of {settings.remote_text} repositories may go there"
    return well("judge", f"{settings.judge_url}: {form}; {costs}; {texts}")


# GitHub refuses a signed token whose times are off by more than a minute.
MOST_SKEW_SECONDS = 30
# Read at most this many delivery attempts, in at most ten requests.
MOST_READ = 1_000
_RANK = {"read": 1, "write": 2, "admin": 3}


def github(
    settings: Settings, permissions: Mapping[str, str], events: frozenset[str], app: AppClient
) -> Iterator[Finding]:
    """Check the App's id and key, our clock, the permissions and events, the webhook, and the installations."""
    try:
        info = app.get_app()
        yield well("GitHub", f"{settings.github_api_url} knows us as {info.bot_login}")
        skew = app.clock_skew() or 0.0
        if abs(skew) > MOST_SKEW_SECONDS:
            says = f"{abs(skew):.0f} s {'behind' if skew > 0 else 'ahead of'} GitHub's"
            yield warning("clock", says, "Let the machine keep its time (NTP).")
        mend = "Change it on the App's page, under Permissions & events; each installation must accept new permissions."
        lacking = {"permissions": lacks(permissions, info.permissions), "events": sorted(events - set(info.events))}
        for subject, missing in lacking.items():
            if missing:
                yield broken(subject, f"the App lacks {', '.join(missing)}", mend)
            else:
                yield well(subject, "all that are needed")
        yield _webhook(settings, app)
        yield from _installations(app, permissions)
    except KeyRefused as refusal:
        mend = "Id and key must belong to one App at GITHUB_API_URL, and its page must still list the key."
        yield broken("GitHub", f"refuses the App's id and key: {refusal}", mend)
    except (GitHubError, Retryable) as problem:
        yield _unreachable(settings, problem)


def token(settings: Settings, client: RepoClient) -> Finding:
    """Whether GITHUB_TOKEN, which stands in for an App, may read the issues of DOPPEL_REPOSITORY."""
    try:
        client.check_token()
        if not settings.default_repository:
            return well("GITHUB_TOKEN", "GitHub knows it; without DOPPEL_REPOSITORY, no repository was tried")
        client.recent_issues(RepoRef.parse(settings.default_repository), 1)
        return well("GITHUB_TOKEN", f"may read the issues of {settings.default_repository}")
    except Retryable as problem:
        return _unreachable(settings, problem)
    except GitHubError as problem:
        mend = "Check DOPPEL_REPOSITORY and GITHUB_API_URL, or make a token to read issues there."
        return broken("GITHUB_TOKEN", access_refused(problem) or str(problem), mend)


def _unreachable(settings: Settings, problem: Exception) -> Finding:
    mend = "Try again later, or check GITHUB_API_URL, HTTPS_PROXY and SSL_CERT_FILE (your own certificate authority)."
    return broken("GitHub", f"{settings.github_api_url} could not be asked: {problem}", mend)


def lacks(wanted: Mapping[str, str], granted: Mapping[str, str]) -> list[str]:
    """The permissions in `wanted` that `granted` lacks, written like `issues: write`."""
    held = {name: _RANK.get(level, 0) for name, level in granted.items()}
    return [f"{name}: {level}" for name, level in sorted(wanted.items()) if held.get(name, 0) < _RANK[level]]


def _webhook(settings: Settings, app: AppClient) -> Finding:
    """Where GitHub delivers, and how many recent deliveries were not accepted there."""
    url, channel = app.hook_url(), settings.webhook_proxy_url
    if not url:
        mend = "On the App's page, enter https://YOUR-HOST/webhook, or the address that WEBHOOK_PROXY_URL has."
        if settings.simulated:
            return warning("webhook", "GitHub delivers nowhere", "`doppel serve` sets the webhook.")
        return broken("webhook", "GitHub delivers nowhere", mend)
    if channel and url.rstrip("/") != channel:
        mend = "Enter the channel's address on the App's page, or take WEBHOOK_PROXY_URL away."
        return warning("webhook", "GitHub does not deliver to the channel of WEBHOOK_PROXY_URL", mend)
    # Do not print a channel's address: anybody who knows it can listen.
    where = "the channel" if channel else url
    attempts = list(app.deliveries(most=MOST_READ))
    accepted = {attempt.guid for attempt in attempts if attempt.taken}
    # GitHub lists new attempts first. In reverse order, the newest code overwrites the older ones.
    lost = {attempt.guid: attempt.status_code for attempt in reversed(attempts) if attempt.guid not in accepted}
    if not lost:
        return well("webhook", f"GitHub delivers to {where}")
    [(code, _)] = Counter(lost.values()).most_common(1)
    failed = "failed lately, " + (f"mostly with {code}" if code else "without an answer")
    mend = {
        REFUSED_SIGNATURE: "WEBHOOK_SECRET here must be the secret on the App's page on GitHub.",
        0: "GitHub must reach that address, and the web process must run there.",
    }.get(code, "The App's page lists the answers under Advanced; the log has the reasons.")
    again = "Doppel then requests what was missed, as docs/operations.md says (A delivery is lost)."
    return warning("webhook", f"{counted(len(lost), 'delivery', 'deliveries')} to {where} {failed}", f"{mend} {again}")


def _installations(app: AppClient, permissions: Mapping[str, str]) -> Iterator[Finding]:
    installations = app.installations()
    if not installations:
        yield warning("installations", "none yet", "Install the App from its page on a repository.")
    for installation in installations:
        subject = f"installation on {installation.account}"
        if installation.suspended:
            yield warning(subject, "suspended", "Its owner can resume it under Settings, Applications.")
        elif lacking := lacks(permissions, installation.permissions):
            mend = "Its owner must accept the new permissions under Settings, Applications."
            yield broken(subject, f"has not granted {', '.join(lacking)}", mend)
        else:
            yield well(subject, "active")
