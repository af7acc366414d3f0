"""The page of one simulated repository: read, search, open issues and comment, as its people do on GitHub.

It works on the simulator's state directly, in the same process; what is done here emits the webhooks that it would.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from flask import Flask, abort, make_response, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from bot.demo.page.markup import to_html
from bot.pages import refuse_other_sites
from bot.simulator import Simulator
from bot.simulator.errors import ApiError
from bot.simulator.search import QueryError
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Comment, Issue

PER_PAGE = 30
SIGNS = dict(
    zip(("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"), "👍👎😄😕❤🎉🚀👀", strict=True)
)
LOGIN = re.compile(r"[A-Za-z0-9](?:[-_]?[A-Za-z0-9]){0,38}")
# Nothing is loaded from elsewhere and nothing in an issue can run.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'"
)


def create_page(simulator: Simulator, repository: str, maintainers: Sequence[str]) -> Flask:
    """The page of `repository` (`owner/name`); `maintainers` are offered as people to comment as."""
    app = Flask(__name__, static_url_path="/static")
    # Another site's name that resolves to this machine does not reach the page either.
    app.config["TRUSTED_HOSTS"] = ["127.0.0.1", "localhost"]
    page = _Page(simulator, repository, tuple(maintainers))
    app.jinja_env.globals.update(repository=repository, reactions=_reactions, role=page.role)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True

    # A page elsewhere must not be able to post here through the visitor's browser.
    app.before_request(refuse_other_sites)

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Cache-Control"] = "no-store"
        return response

    @app.errorhandler(404)
    def missing(problem: HTTPException) -> tuple[str, int]:
        return render_template("missing.html"), 404

    @app.get("/")
    def issues() -> str:
        return page.issues(request.args.get("q", "").strip(), max(1, request.args.get("page", 1, type=int)))

    @app.route("/issues/new", methods=["GET", "POST"])
    def new_issue() -> str | Response | tuple[str, int]:
        return page.open_issue() if request.method == "POST" else render_template("new.html", login="curious-visitor")

    @app.get("/issues/<int:number>")
    def issue(number: int) -> str:
        return page.issue(number)

    @app.post("/issues/<int:number>/comments")
    def comment(number: int) -> Response | tuple[str, int]:
        return page.comment(number)

    @app.get("/issues/<int:number>/state")
    def fingerprint(number: int) -> Response:
        with simulator.lock:
            return make_response(_fingerprint(page.find(number)), {"Content-Type": "text/plain"})

    return app


class _Page:
    """What the routes do. Everything that reads the state holds the simulator's lock while it renders."""

    def __init__(self, simulator: Simulator, repository: str, maintainers: tuple[str, ...]) -> None:
        self._sim, self._repository, self._maintainers = simulator, repository, maintainers

    def find(self, number: int) -> Issue:
        try:
            return self._sim.issue(self._repository, number)
        except KeyError:
            abort(404)

    def role(self, account: Account) -> str:
        role = self._sim.role(self._sim.repository(self._repository), account)
        return "" if account.type == "Bot" or role in ("none", "read") else str(role)

    def issues(self, query: str, page: int) -> str:
        found: list[Issue] = []
        total, problem = 0, ""
        with self._sim.lock:
            if query:
                self._sim.flush_index()
                try:
                    result = self._sim.index.search(
                        f"repo:{self._repository} is:issue {query}", page=page, per_page=PER_PAGE
                    )
                    total, found = result.total_count, [self._sim.issues_by_id[key] for key in result.ids]
                except QueryError as refusal:
                    problem = f"GitHub would answer 422: {refusal}"
            else:
                everything = [
                    issue
                    for issue in self._sim.issues_of(self._sim.repository(self._repository))
                    if not issue.is_pull_request
                ]
                total = len(everything)
                found = everything[::-1][(page - 1) * PER_PAGE : page * PER_PAGE]
            return render_template(
                "issues.html", found=found, total=total, query=query, page=page, per_page=PER_PAGE, problem=problem
            )

    def issue(self, number: int, draft: str = "", login: str = "", problem: str = "") -> str:
        with self._sim.lock:
            issue = self.find(number)
            people = dict.fromkeys(self._maintainers, "maintainer") | {"curious-visitor": "visitor"}
            people.pop(issue.author.login, None)
            return render_template(
                "issue.html",
                issue=issue,
                body=self._html(issue.body or ""),
                comments=[(comment, self._html(comment.body)) for comment in issue.comments],
                print=_fingerprint(issue),
                people=[(issue.author.login, "author"), *people.items()],
                login_before=login,
                draft=draft,
                problem=problem,
            )

    def open_issue(self) -> Response | tuple[str, int]:
        title, body, login = (request.form.get(name, "").strip() for name in ("title", "body", "login"))
        if not LOGIN.fullmatch(login):
            problem = f"{login!r} is not a login: letters, digits and single hyphens, at most 39."
            return render_template("new.html", title=title, body=body, login=login, problem=problem), 422
        try:
            made = self._sim.open_issue(self._repository, login, title, body)
        except ApiError as refusal:
            return render_template("new.html", title=title, body=body, login=login, problem=str(refusal)), 422
        return redirect(url_for("issue", number=made.number), 303)

    def comment(self, number: int) -> Response | tuple[str, int]:
        body, login = request.form.get("body", ""), request.form.get("login", "curious-visitor")
        issue = self.find(number)
        if not LOGIN.fullmatch(login):
            abort(400)
        try:
            if body.strip():
                self._sim.comment(self._repository, number, login, body.replace("\r\n", "\n"))
            if "close" in request.form:
                change = self._sim.close_issue if issue.state == "open" else self._sim.reopen_issue
                change(self._repository, number, login)
            elif not body.strip():
                return self.issue(number, login=login, problem="Write something first."), 422
        except ApiError as refusal:
            return self.issue(number, body, login, str(refusal)), 422
        return redirect(url_for("issue", number=number, _anchor="body"), 303)

    def _html(self, markdown: str) -> Markup:
        # Safe: to_html writes every tag and attribute itself, from an allow-list.
        return Markup(to_html(markdown, self._repository, self._link))  # noqa: S704

    def _link(self, issue: str) -> str | None:
        repository, _, number = issue.partition("#")
        if repository.lower() != self._repository.lower():
            return None
        try:
            return url_for("issue", number=self._sim.issue(self._repository, int(number)).number)
        except KeyError:
            return None


def _reactions(subject: Issue | Comment) -> list[tuple[str, int]]:
    counts = Counter(reaction.content for reaction in subject.reactions)
    return [(sign, counts[content]) for content, sign in SIGNS.items() if counts[content]]


def _fingerprint(issue: Issue) -> str:
    """A short text that changes whenever the conversation does."""
    parts = [issue.title, issue.body or "", issue.state, *(label.name for label in issue.labels)]
    parts += [str(_reactions(issue))]
    parts += [f"{comment.id} {comment.body} {_reactions(comment)}" for comment in issue.comments]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
