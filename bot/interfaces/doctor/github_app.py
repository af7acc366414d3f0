"""Checks whether GitHub knows the App, has granted its permissions, and delivers; or whether it accepts a token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from bot.domain.entities import RepoRef
from bot.domain.errors import GitHubError, KeyRefused, Retryable, access_refused
from bot.domain.formats import counted
from bot.github.app import REFUSED_SIGNATURE, AppClient
from bot.github.repository import RepoClient
from bot.interfaces.doctor.checks import Finding, broken, warning, well
from bot.platform.settings import Settings

# GitHub refuses a signed token whose times are off by more than a minute.
MOST_SKEW_SECONDS = 30
# The most attempts to read, which takes ten requests. GitHub keeps three days of them.
MOST_READ = 1_000
_RANK = {"read": 1, "write": 2, "admin": 3}


def github(
    settings: Settings, permissions: Mapping[str, str], events: frozenset[str], app: AppClient
) -> Iterator[Finding]:
    """The App's name, our clock, its permissions, whether deliveries arrive, and where the App is installed."""
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
            return well("GITHUB_TOKEN", "GitHub knows it; DOPPEL_REPOSITORY names nothing to try it on")
        client.recent_issues(RepoRef.parse(settings.default_repository), 1)
        return well("GITHUB_TOKEN", f"may read the issues of {settings.default_repository}")
    except Retryable as problem:
        return _unreachable(settings, problem)
    except GitHubError as problem:
        mend = "Make one that may read issues in DOPPEL_REPOSITORY; see whether that and GITHUB_API_URL are right."
        return broken("GITHUB_TOKEN", access_refused(problem) or str(problem), mend)


def _unreachable(settings: Settings, problem: Exception) -> Finding:
    mend = "Look again later, or check GITHUB_API_URL, HTTPS_PROXY, and SSL_CERT_FILE for an authority of your own."
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
            return warning("webhook", "GitHub delivers nowhere", "`doppel serve` tells a simulator its own address.")
        return broken("webhook", "GitHub delivers nowhere", mend)
    if channel and url.rstrip("/") != channel:
        mend = "Enter the channel's address on the App's page, or take WEBHOOK_PROXY_URL away."
        return warning("webhook", "GitHub does not deliver to the channel of WEBHOOK_PROXY_URL", mend)
    # Do not print a channel's address: anybody who knows it can listen.
    where = "the channel" if channel else url
    attempts = list(app.deliveries(most=MOST_READ))
    taken = {attempt.guid for attempt in attempts if attempt.taken}
    # Each delivery's newest attempt counts. GitHub lists the newest first, so in reverse it overwrites the others.
    lost = {attempt.guid: attempt.status_code for attempt in reversed(attempts) if attempt.guid not in taken}
    if not lost:
        return well("webhook", f"GitHub delivers to {where}")
    [(code, _)] = Counter(lost.values()).most_common(1)
    failed = f"{counted(len(lost), 'delivery', 'deliveries')} to {where} failed lately"
    mend = {
        REFUSED_SIGNATURE: "WEBHOOK_SECRET here must be the secret on the App's page on GitHub.",
        0: "GitHub must reach that address, and the web process must run there.",
    }.get(code, "See Advanced on the App's page for what was answered, and the log for why.")
    again = "What was missed is then asked for by itself, as docs/operations.md says (A delivery is lost)."
    return warning("webhook", f"{failed}, {f'mostly with {code}' if code else 'without an answer'}", f"{mend} {again}")


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
