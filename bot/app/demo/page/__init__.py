"""The web page of one simulated repository, on which a visitor can read and search issues, file issues and comment.

The page works on the simulator's state in the same process: it holds the simulator's lock while it renders, and the
simulator sends webhooks for what people do. HTML is escaped, except tags that cannot affect the rest of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape

from flask import Flask, abort, redirect, render_template, request, url_for
from markdown_it import MarkdownIt
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from bot.interfaces.pages import POLICY, Page, protect
from bot.simulator import Simulator
from bot.simulator.errors import ApiError
from bot.simulator.search import QueryError
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import REACTIONS, Comment, Issue
from bot.text.invisible import without_comments

PER_PAGE = 30
SIGNS = dict(zip(REACTIONS, "👍👎😄😕❤🎉🚀👀", strict=True))
LOGIN = re.compile(r"[A-Za-z0-9](?:[-_]?[A-Za-z0-9]){0,38}")
VISITOR = "curious-visitor"

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# These tags are not escaped: left open, each ends with its parent element. Browsers reopen a <b> after the parent.
_ALLOWED = re.compile(r"&lt;(/?(?:details|summary|sub|sup|kbd)|br|details open)&gt;", re.IGNORECASE)
_ISSUE_URL = re.compile(r"https://(?:redirect\.|www\.)?github\.com/([\w.-]+/[\w.-]+)/issues/(\d{1,10})", re.IGNORECASE)
# GitHub links what the three groups match: address, mention, issue number. `[&<>]` is for signs to escape.
_LINKABLE = re.compile(
    r"(https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]])"
    r"|(?<![\w`/@])(@[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})(?:/[\w-]{1,100})?)"
    r"|(?<![\w`/&#])(#[1-9][0-9]{0,9})\b|[&<>]"
)
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ "}
_SAFE = ("http://", "https://", "mailto:", "#")


def create_page(simulator: Simulator, repository: str, maintainers: Sequence[str]) -> Flask:
    """The page of `repository` (`owner/name`), where the visitor can also comment as one of the `maintainers`."""
    app = Flask(__name__, static_url_path="/static")
    # Refuse requests by another name that resolves to this machine (DNS rebinding).
    app.config["TRUSTED_HOSTS"] = ["127.0.0.1", "localhost"]
    protect(app, f"{POLICY}; form-action 'self'")
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True

    def role(account: Account) -> str:
        held = simulator.role(simulator.repository(repository), account)
        return "" if account.type == "Bot" or held in ("none", "read") else str(held)

    def link(name: str) -> str | None:
        place, _, number = name.partition("#")
        is_here = place.lower() == repository.lower()
        last = simulator.repository(repository).last_number
        return url_for("issue", number=int(number)) if is_here and 0 < int(number) <= last else None

    def html(markdown: str | None) -> Markup:
        # Safe, because to_html escapes all HTML but `_ALLOWED` tags.
        return Markup(to_html(markdown or "", repository, link))  # noqa: S704

    def reactions(subject: Issue | Comment) -> list[tuple[str, int]]:
        counts = Counter(reaction.content for reaction in subject.reactions)
        return [(sign, counts[content]) for content, sign in SIGNS.items() if counts[content]]

    app.jinja_env.globals.update(repository=repository, reactions=reactions, role=role, html=html)

    def find(number: int) -> Issue:
        try:
            return simulator.issue(repository, number)
        except KeyError:
            abort(404)

    @app.errorhandler(404)
    def missing(problem: HTTPException) -> Page:
        return render_template("missing.html"), 404

    @app.get("/")
    def issues() -> Page:
        query, page = request.args.get("q", "").strip(), max(1, request.args.get("page", 1, type=int))
        problem = ""
        with simulator.lock:
            simulator.flush_index()
            try:
                asked = f"repo:{repository} is:issue {query or 'sort:created-desc'}"
                result = simulator.index.search(asked, page=page, per_page=PER_PAGE)
                total, found = result.total_count, [simulator.issues_by_id[key] for key in result.ids]
            except QueryError as refusal:
                total, found, problem = 0, [], f"GitHub would answer 422: {refusal}"
            shown = {"found": found, "total": total, "query": query, "page": page, "per_page": PER_PAGE}
            return render_template("issues.html", **shown, problem=problem)

    @app.get("/issues/<int:number>")
    def issue(number: int, draft: str = "", login: str = "", problem: str = "") -> Page:
        with simulator.lock:
            found = find(number)
            author = {found.author.login: "author"}
            # A merged dict has each key's first position and last value. So the author is at the top, as "author".
            people = author | dict.fromkeys(maintainers, "maintainer") | {VISITOR: "visitor"} | author
            written = {"draft": draft, "login_before": login, "problem": problem}
            return render_template("issue.html", issue=found, people=people.items(), **written)

    @app.route("/issues/new", methods=["GET", "POST"])
    def new_issue() -> Page:
        if request.method == "GET":
            return render_template("new.html", login=VISITOR)
        given = {name: request.form.get(name, "").strip() for name in ("login", "title", "body")}
        try:
            if not LOGIN.fullmatch(given["login"]):
                raise ValueError(f"{given['login']!r} is not a login: letters, digits and single hyphens, at most 39.")
            opened = simulator.open_issue(repository, given["login"], given["title"], given["body"])
            return redirect(url_for("issue", number=opened.number), 303)
        except (ValueError, ApiError) as refusal:
            return render_template("new.html", **given, problem=str(refusal)), 422

    @app.post("/issues/<int:number>/comments")
    def comment(number: int) -> Page:
        body, login = request.form.get("body", ""), request.form.get("login", VISITOR)
        if not LOGIN.fullmatch(login):
            abort(400)
        target, toggles_state = find(number), "close" in request.form
        if not body.strip() and not toggles_state:
            return issue(number, login=login, problem="Write something first."), 422  # type: ignore[return-value]
        try:
            if body.strip():
                simulator.comment(repository, number, login, body.replace("\r\n", "\n"))
            if toggles_state:
                change = simulator.close_issue if target.state == "open" else simulator.reopen_issue
                change(repository, number, login)
        except ApiError as refusal:
            return issue(number, body, login, str(refusal)), 422  # type: ignore[return-value]
        return redirect(url_for("issue", number=number, _anchor="body"), 303)

    return app


def to_html(markdown: str, repository: str = "", link: Callable[[str], str | None] = lambda _: None) -> str:
    """Render a text of `repository` (`owner/name`); `link` gives the address of `owner/name#N` on this page, if any."""

    def resolved(href: str) -> str | None:
        """The address on this page if `href` leads to an issue shown here; else `href` if it is harmless, or None."""
        issue = _ISSUE_URL.fullmatch(href)
        return (issue and link(f"{issue[1]}#{issue[2]}")) or (href if href.startswith(_SAFE) else None)

    def linked(found: re.Match[str]) -> str:
        address, mention, reference = found.groups()
        shown = escape(found[0], quote=False)
        if mention:
            return f'<span class="mention">{shown}</span>'
        target = resolved(address) if address else (reference and link(repository + reference))
        return f'<a href="{escape(target)}" rel="nofollow noopener noreferrer">{shown}</a>' if target else shown

    tokens, in_link = _MARKDOWN.parse(markdown), False
    for block in tokens:
        for at, token in enumerate(block.children or [block]):
            if token.type in ("html_block", "html_inline"):
                token.content = _ALLOWED.sub(r"<\1>", escape(without_comments(token.content), quote=False))
            elif token.type == "image":
                # Nothing is loaded from elsewhere; the description replaces the picture.
                token.type = "html_inline"
                token.content = f'<span class="image">{escape(token.content or "image")}</span>'
            elif token.type in ("link_open", "link_close"):
                in_link = token.type == "link_open"
                if in_link:
                    target = resolved(str(token.attrs["href"]))
                    token.attrs = {"href": target, "rel": "nofollow noopener noreferrer"} if target else {}
            elif token.type == "text" and not in_link:
                # Only the first text of a block can begin with a check box.
                begin, rest = token.content[:4], token.content[4:]
                begin = _BOXES.get(begin.lower(), begin) if at == 0 else begin
                token.type, token.content = "html_inline", _LINKABLE.sub(linked, begin + rest)
    return str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
