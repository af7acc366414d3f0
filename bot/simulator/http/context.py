"""A handler's context: the request, the caller, and look-ups with access checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from werkzeug.datastructures import Headers

from bot.simulator.access import app_may, can_see, role_of
from bot.simulator.callers import Anonymous, AppCaller, Caller, UserCaller
from bot.simulator.errors import ApiError, forbidden, gone, invalid, moved, not_found, unauthorized
from bot.simulator.faults import Fault
from bot.simulator.http.operation import Operation
from bot.simulator.http.reply import Reply
from bot.simulator.simulator import Simulator
from bot.simulator.state.accounts import Account, App
from bot.simulator.state.issues import Comment, Issue, Tombstone
from bot.simulator.state.repositories import Repository, at_least

T = TypeVar("T")
PER_PAGE, MOST_PER_PAGE = 30, 100


@dataclass(slots=True)
class Context:
    """One request. `params` are the path's variables, `url` has no query string, `body` is the parsed JSON or None."""

    sim: Simulator
    operation: Operation
    caller: Caller
    params: Mapping[str, Any]
    query: Mapping[str, str]
    headers: Headers
    body: Any
    url: str
    # The fault added to this request, if any. Only searches read this field, to apply `hybrid_unavailable`.
    fault: Fault | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The body as an object, empty if there is none; 400 for anything else."""
        if self.body is None:
            return {}
        if not isinstance(self.body, dict):
            raise ApiError(400, "Body should be a JSON object")
        return self.body

    @property
    def app(self) -> App:
        """The App that calls with a JWT."""
        if not isinstance(self.caller, AppCaller):
            raise unauthorized("A JSON web token could not be decoded")
        return self.caller.app

    @property
    def actor(self) -> Account:
        """The author of writes: the user, or the App's bot."""
        if self.caller.account is None:
            raise unauthorized("Requires authentication")
        return self.caller.account

    def repository(self) -> Repository:
        """The repository of the path, after checking visibility, permission, name and archiving, in this order.

        404 if the caller must not see the repository, 401 or 403 if the caller may not do this, 301 or 307 for a former
        name, 403 for a write to an archived repository.
        """
        name = f"{self.params['owner']}/{self.params['repo']}"
        repo = self.sim.named(name)
        if repo is None or not can_see(self.sim, self.caller, repo):
            raise not_found()
        self.require(repo)
        if repo.full_name.lower() != name.lower():
            rest = self.route_tail()
            raise moved(f"{self.sim.urls.api}/repositories/{repo.id}{rest}", self.operation.method)
        if self.operation.method != "GET" and repo.archived:
            raise forbidden("Repository was archived so is read-only.")
        return repo

    def route_tail(self) -> str:
        """The rest of the request's address after the repository, with the query string."""
        owner, repo = self.params["owner"], self.params["repo"]
        path = quote(self.url.split(f"/repos/{owner}/{repo}", 1)[-1])
        return f"{path}?{urlencode(self.query)}" if self.query else path

    def require(self, repo: Repository) -> None:
        """Refuse a caller that lacks the operation's permission (an App) or role (a user) in this repository.

        A person who calls through an App needs both. An App's JWT is always refused.

        This is stricter than GitHub: an installation needs the read permission even in the public repositories on
        which it is installed. So even a test with a public repository notices a missing permission.
        """
        writes = self.operation.method != "GET"
        if not app_may(self.sim, self.caller, repo, self.operation.permissions, writes=writes):
            raise self._inaccessible()
        if isinstance(self.caller, AppCaller):
            raise unauthorized("A JSON web token could not be decoded")
        if isinstance(self.caller, Anonymous) and writes:
            raise unauthorized("Requires authentication")
        role = role_of(self.sim, self.caller, repo)
        if isinstance(self.caller, UserCaller) and not at_least(role, self.operation.role):
            raise self.lacks_role()

    def lacks_role(self) -> ApiError:
        """The refusal for a person who may read the repository but lacks a role. The text always names admin rights."""
        return forbidden("Must have admin rights to Repository.")

    def _inaccessible(self) -> ApiError:
        accepted = "; ".join(f"{name}={level}" for name, level in self.operation.permissions)
        headers = {"X-Accepted-GitHub-Permissions": accepted} if accepted else {}
        return forbidden("Resource not accessible by integration", headers=headers)

    def issue(self) -> Issue:
        """The path's issue: 404 if it never existed, 410 if deleted, a redirect if transferred.

        After a transfer, a GET of a part of the old issue (such as its comments) gets 404, not a redirect
        (https://github.com/Systemorph/MeshWeaver/issues/4629). If issues are off, always 410.
        """
        repo = self.repository()
        number = int(self.params["number"])
        if not repo.has_issues:
            raise gone("Issues are disabled for this repo")
        record = self.sim.issues[repo.id].get(number)
        if isinstance(record, Tombstone):
            if record.moved_to is None:
                raise gone("This issue was deleted")
            tail = self.route_tail().split(f"/issues/{number}", 1)[-1]
            target = record.moved_to
            reads_below_issue = tail.startswith("/") and self.operation.method == "GET"
            if reads_below_issue or not can_see(self.sim, self.caller, target.repository):
                raise not_found()
            location = f"{self.sim.urls.api}/repositories/{target.repository.id}/issues/{target.number}{tail}"
            raise moved(location, self.operation.method)
        if record is None:
            raise not_found()
        return record

    def comment(self) -> Comment:
        """The comment of the path; 404 if this repository lacks the comment."""
        repo = self.repository()
        record = self.sim.comments_by_id.get(int(self.params["comment_id"]))
        if record is None or record.issue.repository is not repo:
            raise not_found()
        return record

    def unsupported(self, used: Iterable[str], *names: str) -> None:
        """Refuse a request if `used` has one of `names`. GitHub knows these parameters, the simulator does not."""
        unknown = sorted(set(used) & set(names))
        if unknown:
            self.sim.unknown_requests.append(f"{self.operation.method} {self.operation.path}: {', '.join(unknown)}")
            raise ApiError(501, f"The simulator does not know {', '.join(unknown)}")

    def number(self, name: str, default: int) -> int:
        """A whole number from the query string; like GitHub, use the default for nonsense."""
        try:
            return int(self.query.get(name, default))
        except ValueError:
            return default

    def word(self, name: str, default: str, allowed: Sequence[str]) -> str:
        """A word from the query string; 422 unless it is among the allowed words."""
        value = self.query.get(name, default)
        if value not in allowed:
            raise invalid("Search" if "search" in self.url else "Issue", name, "invalid", value=value)
        return value

    def page(self, items: Sequence[T], show: Callable[[T], Any]) -> Reply:
        """One page of a list, with the `Link` header to the other pages."""
        page, per_page = self.paging()
        first = (page - 1) * per_page
        headers = self.links(page, max(1, -(-len(items) // per_page)))
        return Reply([show(item) for item in items[first : first + per_page]], headers=headers)

    def paging(self) -> tuple[int, int]:
        """The number of the requested page, from 1 on, and the entries per page."""
        return max(self.number("page", 1), 1), min(max(self.number("per_page", PER_PAGE), 1), MOST_PER_PAGE)

    def links(self, page: int, last: int) -> dict[str, str]:
        """The `Link` header of page `page` in a list whose last page is `last`. A single page has no header."""
        steps: dict[str, int] = {}
        if page > 1:
            steps |= {"prev": min(page - 1, last), "first": 1}
        if page < last:
            steps |= {"next": page + 1, "last": last}
        parts = [f'<{self.url}?{urlencode({**self.query, "page": to})}>; rel="{rel}"' for rel, to in steps.items()]
        return {"Link": ", ".join(parts)} if parts else {}
