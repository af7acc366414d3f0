"""Checks whether GitHub knows the App, has granted its permissions, and delivers; or whether it accepts a token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bot.domain.entities import RepoRef
from bot.domain.errors import Forbidden, GitHubError, KeyRefused, NotFound, Retryable
from bot.domain.formats import counted
from bot.github.app import REFUSED_SIGNATURE, AppClient, DeliveryAttempt
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
    """The App's name, its permissions, whether deliveries arrive, and where the App is installed."""
    try:
        info = app.get_app()
    except (KeyRefused, Forbidden, NotFound) as refusal:
        mend = (
            "Id and key must belong to one App, the key must not have been deleted on its page, and GITHUB_API_URL "
            "must be where the App is."
        )
        yield broken("GitHub", f"refuses the App's id and key: {refusal}", mend)
        return
    except (GitHubError, Retryable) as problem:
        yield _out_of_reach(settings, problem)
        return
    yield well("GitHub", f"{settings.github_api_url} knows us as {info.bot_login}")
    skew = app.clock_skew() or 0.0
    if abs(skew) > MOST_SKEW_SECONDS:
        says = f"{abs(skew):.0f} s {'behind' if skew > 0 else 'ahead of'} GitHub's"
        yield warning("clock", says, "Let the machine keep its time (NTP).")
    yield from _granted(lacks(permissions, info.permissions), sorted(events.difference(info.events)))
    try:
        yield _hook(settings, app)
        yield from _installations(app, permissions)
    except (GitHubError, Retryable) as problem:
        # The findings before this failure are reported already.
        yield broken("GitHub", f"could not say everything: {problem}", "Look again later.")


def token(settings: Settings, client: RepoClient) -> Finding:
    """Whether GITHUB_TOKEN, which stands in for an App, may read the issues of DOPPEL_REPOSITORY."""
    repo = RepoRef.parse(settings.default_repository) if settings.default_repository else None
    try:
        client.check_token()
        if repo is not None:
            client.recent_issues(repo, 1)
    except (Forbidden, NotFound) as refusal:
        if isinstance(refusal, Forbidden) and refusal.unknown:
            mend = "Make another one on GitHub, with permission to read issues."
            return broken("GITHUB_TOKEN", "GitHub does not know it: it is wrong or has expired", mend)
        mend = "Give it permission to read issues there, or see whether DOPPEL_REPOSITORY is right."
        return broken("GITHUB_TOKEN", f"may not read the issues of {repo}", mend)
    except (GitHubError, Retryable) as problem:
        return _out_of_reach(settings, problem)
    says = f"may read the issues of {repo}" if repo else "GitHub knows it; DOPPEL_REPOSITORY names nothing to try it on"
    return well("GITHUB_TOKEN", says)


def _out_of_reach(settings: Settings, problem: Exception) -> Finding:
    mend = (
        "Check GITHUB_API_URL and the way out of this machine (HTTPS_PROXY); a certificate authority of your own "
        "is named in SSL_CERT_FILE and REQUESTS_CA_BUNDLE."
    )
    return broken("GitHub", f"{settings.github_api_url} cannot be reached: {problem}", mend)


def _granted(lacking: Sequence[str], missing: Sequence[str]) -> Iterator[Finding]:
    if lacking:
        mend = "Change the App's permissions on its page; each installation must then accept them."
        yield broken("permissions", f"the App lacks {', '.join(lacking)}", mend)
    else:
        yield well("permissions", "all that are needed")
    if missing:
        mend = "Subscribe to them on the App's page, under Permissions & events."
        yield broken("events", f"the App does not get {', '.join(missing)}", mend)
    else:
        yield well("events", "all that are needed")


def lacks(wanted: Mapping[str, str], granted: Mapping[str, str]) -> list[str]:
    """The permissions in `wanted` that `granted` lacks, written like `issues: write`."""
    held = {name: _RANK.get(level, 0) for name, level in granted.items()}
    return [f"{name}: {level}" for name, level in sorted(wanted.items()) if held.get(name, 0) < _RANK[level]]


def _hook(settings: Settings, app: AppClient) -> Finding:
    url = app.hook_url()
    if not url and settings.simulated:
        # Only a warning, since `doppel serve` gives the simulator its address.
        mend = "`doppel serve` enters its own address there when it starts."
        return warning("webhook", "the simulator delivers nowhere yet", mend)
    if not url:
        where = settings.webhook_proxy_url and "the address that WEBHOOK_PROXY_URL has"
        mend = f"Enter {where or 'https://YOUR-HOST/webhook'} on the App's page."
        return broken("webhook", "GitHub delivers nowhere", mend)
    if settings.webhook_proxy_url and url.rstrip("/") != settings.webhook_proxy_url:
        mend = "Enter the channel's address on the App's page, or take WEBHOOK_PROXY_URL away."
        return warning("webhook", "GitHub does not deliver to the channel of WEBHOOK_PROXY_URL", mend)
    # Do not print a channel's address: anybody who knows it can listen.
    where = "the channel" if settings.webhook_proxy_url else url
    if lost := _not_taken(app):
        return warning("webhook", *_why(lost, where))
    return well("webhook", f"GitHub delivers to {where}")


def _not_taken(app: AppClient) -> dict[str, DeliveryAttempt]:
    """The last attempt of each recent delivery, by GUID, where all attempts failed."""
    last, taken = dict[str, DeliveryAttempt](), set[str]()
    for attempt in app.deliveries(most=MOST_READ):
        last.setdefault(attempt.guid, attempt)
        taken |= {attempt.guid} if attempt.taken else set()
    return {guid: attempt for guid, attempt in last.items() if guid not in taken}


def _why(lost: Mapping[str, DeliveryAttempt], where: str) -> tuple[str, str]:
    """How many deliveries failed, with the most frequent response; and how to mend this."""
    (code, _), *_ = Counter(one.status_code for one in lost.values()).most_common(1)
    failed = f"{counted(len(lost), 'delivery', 'deliveries')} to {where} failed lately"
    says = f"{failed}, {f'mostly with {code}' if code else 'without an answer'}"
    again = "What was missed is then asked for by itself, as docs/operations.md says (A delivery is lost)."
    mend = {
        REFUSED_SIGNATURE: "WEBHOOK_SECRET here must be the secret on the App's page on GitHub.",
        0: "GitHub must reach that address, and the web process must run there.",
    }.get(code, "See Advanced on the App's page for what was answered, and the log for why.")
    return says, f"{mend} {again}"


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
