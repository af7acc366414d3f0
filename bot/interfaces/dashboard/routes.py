"""The dashboard's routes, and the pages of a repository for people with triage access."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Blueprint, abort, current_app, g, redirect, render_template, request, url_for
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException

from bot.conversation.config.schema import CONFIG_PATH
from bot.conversation.messages.catalogue import messages_for
from bot.domain.entities import NUMBER_MAX, RepoRef
from bot.domain.errors import DoppelError, GitHubError, InvalidArgument
from bot.domain.report import MENTION_FROM
from bot.interfaces.dashboard import evaluation_page, views
from bot.interfaces.dashboard.data import PAGE, DashboardData
from bot.interfaces.dashboard.sign_in import Access, SignIn, SignInPages
from bot.interfaces.dashboard.views import DRAWN, setting_rows, timeline
from bot.interfaces.monitoring.exposition import remembered_calls
from bot.interfaces.pages import Page, protect
from bot.quality.calibration import ThresholdOrigin
from bot.quality.digest_text import sentences
from bot.quality.evaluation import wording as words
from bot.quality.evaluation.measures import bins_of
from bot.storage import StoredRepository
from bot.storage.failures import may_pass, why
from bot.storage.sessions import Session

log = logging.getLogger(__name__)

# The texts of error pages, by status. A forbidden page looks the same as a missing page.
_REFUSALS = {
    400: "What was sent does not fit what is stored by now. Open the page anew and try again.",
    404: "There is no such page, or you may not see it: a repository's pages are for people with "
    "triage access. If you have only just been given access, sign out and in again.",
}


def register_error_pages(pages: Blueprint) -> None:

    @pages.errorhandler(HTTPException)
    def refused(problem: HTTPException) -> tuple[str, int]:
        """An error page, on which a person can sign out to use another account."""
        text = _REFUSALS.get(problem.code or 500, f"{problem.name}.")
        return render_template("dashboard/problem.html", problem=text), problem.code or 500

    @pages.errorhandler(SQLAlchemyError)
    def store_failed(problem: SQLAlchemyError) -> tuple[str, int]:
        """Show a temporary failure of the database, such as a full disk. Any other database error is a bug of ours."""
        if not may_pass(problem):
            raise problem
        log.warning("%s: the database failed: %s", request.endpoint, why(problem))
        return render_template("dashboard/problem.html", problem=f"The database failed: {why(problem)}."), 503

    @pages.errorhandler(DoppelError)
    def unavailable(problem: DoppelError) -> tuple[str, int]:
        """Say that GitHub or the queue is away. Show nothing else, because access may not have been checked."""
        return render_template("dashboard/problem.html", problem=f"{problem}."), 503


# How many private repositories the first page asks GitHub about at the same time.
_ASKED_AT_ONCE = 8
# How many repositories the first page lists. The pages of further repositories still work.
_OFFERED = 250
# How many repositories the first page lists with a summary.
_SUMMARISED = 50
# How many issues of a group the backlog page names.
_MEMBERS = 20
# The buttons' values; "none" takes the vote back.
_VOTES = {"same": True, "other": False, "none": None}


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The parts that the pages need. Pages call `data` only if they need it."""

    sign_in: SignIn
    access: Access
    data: Callable[[], DashboardData]


def make_dashboard(dashboard: Dashboard) -> Blueprint:
    pages = Blueprint("dashboard", __name__, template_folder="templates")
    protect(pages)
    register_error_pages(pages)
    signing, routes = SignInPages(dashboard.sign_in, dashboard.data), _Pages(dashboard)
    pages.before_request(signing.recognise)
    pages.context_processor(
        lambda: {
            "web": dashboard.sign_in.web,
            "session": g.get("session"),
            "page_of": _page_of,
            "outcomes": views.OUTCOMES,
            "clock": lambda seconds: datetime.fromtimestamp(seconds, dashboard.data().clock().tzinfo),
        }
    )
    here = "/dashboard/<owner>/<name>"
    issue = f"{here}/issues/<int:number>"
    table: tuple[tuple[str, str, str, Callable[..., Page]], ...] = (
        ("/login", "login", "GET", signing.login),
        ("/login/callback", "callback", "GET", signing.callback),
        ("/logout", "logout", "POST", signing.logout),
        ("/dashboard", "home", "GET", routes.home),
        (here, "decisions", "GET", routes.decisions),
        (issue, "issue", "GET", routes.issue),
        (issue, "vote", "POST", routes.vote),
        (f"{issue}/with/<int:other>", "pair", "GET", routes.pair),
        (f"{here}/backlog", "backlog", "GET", routes.backlog),
        (f"{here}/evaluation", "evaluation", "GET", routes.evaluation),
        (f"{here}/evaluation", "evaluate", "POST", routes.evaluate),
        (f"{here}/feedback", "feedback", "GET", routes.feedback),
        (f"{here}/settings", "settings", "GET", routes.settings),
        (f"{here}/health", "health", "GET", routes.health),
        ("/dashboard/<path:rest>", "elsewhere", "GET", routes.elsewhere),
    )
    for path, name, method, view in table:
        shown = routes.for_triage(view) if path.startswith(here) else view
        pages.add_url_rule(path, name, shown, methods=[method], strict_slashes=False)
    return pages


def _page_of(repository: StoredRepository, page: str, **values: Any) -> str:
    """The address of a repository's page; `values` fill the route and the query."""
    return url_for(f"dashboard.{page}", owner=repository.ref.owner, name=repository.ref.name, **values)


class _Pages:
    def __init__(self, dashboard: Dashboard) -> None:
        self._dashboard = dashboard

    def for_triage(self, view: Callable[..., Page]) -> Callable[..., Page]:
        """Show a repository's page to people with triage access. Others must sign in; if signed in, they get 404."""

        @functools.wraps(view)
        def shown(owner: str, name: str, **rest: Any) -> Page:
            session: Session | None = g.session
            if session is None:
                return redirect(url_for("dashboard.login", next=request.path))
            try:
                repository = self._data.store.repositories.by_name(RepoRef.of(owner, name))
            except InvalidArgument:
                abort(404)
            # The routes set no limit for numbers, because Flask would then answer with its own error page.
            if max(rest.get("number", 0), rest.get("other", 0)) > NUMBER_MAX:
                abort(404)
            # Ask GitHub only about repositories that the person could triage at sign-in. Otherwise the time of an
            # answer would reveal which private repositories exist.
            if repository is None or repository.id not in session.repositories:
                abort(404)
            if not self._dashboard.access.allows(repository, session.login):
                abort(404)
            return view(repository, **rest)

        return shown

    def _still_sees(self, repository: StoredRepository, session: Session) -> bool:
        """Whether the person still has access. Without access, they must not learn a private repository's new name."""
        try:
            return self._dashboard.access.allows(repository, session.login)
        except GitHubError:
            # GitHub refuses this repository. Outages raise other errors, which are shown.
            return False

    def home(self) -> Page:
        """The repositories that the person could triage at sign-in, except private ones that they may no longer see."""
        session: Session | None = g.session
        if session is None:
            return render_template("dashboard/welcome.html")
        store = self._data.store.repositories
        known = [found for key in session.repositories[:_OFFERED] if (found := store.get(key)) is not None]
        # One request after another would take too long for a company's many private repositories.
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
            allowed = pool.map(lambda found: not found.private or self._still_sees(found, session), known)
            visible = [found for found, sees in zip(known, allowed, strict=True) if sees]
        visible.sort(key=lambda found: found.ref.key)
        data = self._data
        # Each row: the repository, its mode, the state of its index, and the digest of its last week.
        summaries = [(one, data.mode_of(one), data.index_status(one), data.week(one)) for one in visible[:_SUMMARISED]]
        listed = [*summaries, *((one, "", None, None) for one in visible[_SUMMARISED:])]
        return render_template("dashboard/home.html", repositories=listed)

    def elsewhere(self, rest: str) -> Page:
        """Any other address below `/dashboard` looks like a forbidden page."""
        abort(404)

    def decisions(self, repository: StoredRepository) -> Page:
        """The latest decisions, a page at a time. With `?judged=no`, a single page of those without feedback."""
        before, unjudged = request.args.get("before", type=float), request.args.get("judged") == "no"
        store = self._data.store.decisions
        found = self._data.without_feedback(repository) if unjudged else store.latest(repository.id, PAGE + 1, before)
        older_than = found[PAGE - 1].at if len(found) > PAGE else None
        titles = self._data.titles(repository, views.issues_named(found[:PAGE]))
        last = store.last_looks(repository.id, {one.number for one in found[:PAGE]})
        week = self._data.week(repository) if before is None else None
        return render_template(
            "dashboard/decisions.html",
            repository=repository,
            decisions=found[:PAGE],
            last=last,
            titles=titles,
            more=older_than,
            before=before,
            unjudged=unjudged,
            votes=self._data.all_votes(repository, g.session.login),
            week=sentences(week, self._data.clock(), messages_for("en", {})) if week and week.looked else "",
        )

    def issue(self, repository: StoredRepository, number: int) -> Page:
        found = self._data.of_issue(repository, number)
        titles = self._data.titles(repository, views.issues_named(found) | {number})
        return render_template(
            "dashboard/issue.html",
            repository=repository,
            number=number,
            titles=titles,
            decisions=found,
            last=self._data.store.decisions.last_looks(repository.id, [number]),
            near=MENTION_FROM,
            votes=self._data.votes(repository, number, g.session.login),
            rows_and_rest=views.rows_and_rest,
            judged=self._data.verdicts(repository, number),
        )

    def pair(self, repository: StoredRepository, number: int, other: int) -> Page:
        pair = self._data.pair(repository, number, other)
        if pair is None:
            abort(404)
        return render_template(
            "dashboard/pair.html",
            repository=repository,
            number=number,
            other=other,
            pair=pair,
            said=self._data.votes(repository, number, g.session.login).get(other),
        )

    def vote(self, repository: StoredRepository, number: int) -> Page:
        """Store the person's vote on a pair (same or different), or take it back."""
        other, said = request.form.get("other", type=int), request.form.get("said", "")
        known = {
            one.number for decision in self._data.of_issue(repository, number) for one in decision.evidence if one.own
        }
        if said not in _VOTES or other is None or other == number:
            abort(400)
        # People may vote on the bot's candidates, and on any two issues that the pair page can show.
        if other not in known and len(self._data.titles(repository, {number, other})) < 2:
            abort(400)
        self._data.vote(repository, number, other, g.session.login, _VOTES[said])
        if request.form.get("back") == "backlog":
            return redirect(_page_of(repository, "backlog"), 303)
        if request.form.get("back") == "pair":
            return redirect(_page_of(repository, "pair", number=number, other=other), 303)
        if request.form.get("back"):
            # Return to the list page where the person voted. `back` is its `before`, or "first", which gives None.
            before = request.form.get("back", type=float)
            return redirect(_page_of(repository, "decisions", before=before, _anchor=f"issue-{number}"), 303)
        return redirect(_page_of(repository, "issue", number=number, _anchor=f"candidate-{other}"), 303)

    def backlog(self, repository: StoredRepository) -> Page:
        result, stored = self._data.groups_of(repository), self._data.store.scan_issues.get(repository.id)
        picture = timeline(result.groups) if result else ""
        return render_template(
            "dashboard/backlog.html",
            repository=repository,
            result=result,
            timeline=picture,
            scanned=stored.updated_at if stored else None,
            drawn=DRAWN,
            shown=PAGE,
            members=_MEMBERS,
        )

    def evaluation(self, repository: StoredRepository) -> Page:
        data, threshold = self._data, self._data.threshold(repository)
        stored = data.evaluation(repository)
        return render_template(
            "dashboard/evaluation.html",
            repository=repository,
            page=evaluation_page.page(stored, threshold.value, data.clock().timestamp()),
            titles=data.titles(repository, evaluation_page.issues_shown(stored)),
            ready=data.store.backfills.complete(repository.id),
            file=CONFIG_PATH,
            set_there=threshold.origin is ThresholdOrigin.SETTINGS,
            words=words,
        )

    def evaluate(self, repository: StoredRepository) -> Page:
        """Start an evaluation. If it is too soon, the page says when the next one is allowed."""
        self._data.evaluate(repository)
        return redirect(_page_of(repository, "evaluation"), 303)

    def feedback(self, repository: StoredRepository) -> Page:
        """The threshold, and the last year's feedback: latest first, a page at a time."""
        examples, points = self._data.feedback(repository)
        stored = self._data.store.calibrations.get(repository.id)
        skipped = max(0, request.args.get("skip", 0, type=int))
        following = skipped + PAGE
        return render_template(
            "dashboard/feedback.html",
            repository=repository,
            threshold=self._data.threshold(repository),
            reset_at=stored.since if stored else 0.0,  # The time of the last reset; 0 if there was none.
            bins=bins_of([(one.probability, one.right, one.weight) for one in points]),
            said=examples[::-1][skipped:following],
            skipped=skipped,
            more=following if following < len(examples) else None,
        )

    def settings(self, repository: StoredRepository) -> Page:
        loaded = self._data.settings_of(repository)
        return render_template(
            "dashboard/settings.html", repository=repository, loaded=loaded, rows=setting_rows(loaded.config)
        )

    def health(self, repository: StoredRepository) -> Page:
        health_checks = current_app.extensions["doppel.health"]
        _, state_of_parts = health_checks.parts()
        dead_letters, problem = self._data.given_up(repository)
        return render_template(
            "dashboard/health.html",
            repository=repository,
            index=self._data.index_status(repository),
            letters=dead_letters,
            problem=problem,
            bot=state_of_parts,
            ill=health_checks.ill().get(repository.id),
            calls=remembered_calls(),
        )

    @property
    def _data(self) -> DashboardData:
        return self._dashboard.data()
