"""Signing in with GitHub: the redirects, the cookies, and who may see which repository.

The bot reads a person's login and repositories with their token, then drops the token. It does nothing in their name.
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlencode

import requests
from flask import g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from bot.domain.entities import name_key
from bot.domain.errors import DoppelError, Unavailable
from bot.github.app import VisitorClient
from bot.interfaces.dashboard.data import DashboardData
from bot.interfaces.pages import Page, is_https, root_url
from bot.platform.local import is_here
from bot.storage import StoredRepository
from bot.storage.sessions import HOURS, Session

SECONDS = 60.0
"""`Access` caches an answer of GitHub's for at most this many seconds."""


class Access:
    """Who may see a repository's pages: people with triage access, as GitHub reports it to the App."""

    def __init__(self, may_triage: Callable[[StoredRepository, str], bool], clock: Callable[[], float]) -> None:
        """`may_triage` asks GitHub about a repository and a login."""
        # `_minute` is part of the cache's key, so that answers expire.
        self._asked = lru_cache(10_000)(lambda repository, login, _minute: may_triage(repository, login))
        self._clock = clock

    def allows(self, repository: StoredRepository, login: str) -> bool:
        """Whether this person may triage in the repository. Raises the errors of GitHub's client."""
        if repository.installation is None or repository.suspended:
            return False
        return self._asked(repository, name_key(login), self._clock() // SECONDS)


# Seconds until the request for a token times out.
_TOKEN_TIMEOUT = 10


class NotSignedIn(DoppelError):
    """GitHub did not identify the person. The message says why, and contains no secret."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """Identifies a person through GitHub. `web` is the root of GitHub's pages; `visitor` makes a client for a token."""

    web: str
    client_id: str
    client_secret: str = field(repr=False)
    visitor: Callable[[str], VisitorClient]

    def address(self, state: str, back: str) -> str:
        """The address of GitHub's sign-in page, which sends the person to `back`, with a code and the same `state`."""
        query = {"client_id": self.client_id, "state": state, "redirect_uri": back, "allow_signup": "false"}
        return f"{self.web}/login/oauth/authorize?{urlencode(query)}"

    def who(self, code: str, back: str) -> Session:
        """The person who came back with this code. Raises NotSignedIn, Unavailable, and the GitHub client's errors."""
        visitor = self.visitor(self._token(code, back))
        return Session(visitor.login(), tuple(visitor.repositories_to_triage()))

    def _token(self, code: str, back: str) -> str:
        form = {"client_id": self.client_id, "client_secret": self.client_secret, "code": code, "redirect_uri": back}
        with requests.Session() as http:
            # A simulator on this machine cannot be reached through the environment's proxy.
            http.trust_env = not is_here(self.web)
            try:
                answer = http.post(
                    f"{self.web}/login/oauth/access_token",
                    data=form,
                    headers={"Accept": "application/json"},
                    timeout=_TOKEN_TIMEOUT,
                    allow_redirects=False,
                )
                data = answer.json()
            except (requests.RequestException, ValueError) as problem:
                raise Unavailable(f"GitHub does not answer ({type(problem).__name__})") from problem
        fields = data if isinstance(data, dict) else {}
        if isinstance(token := fields.get("access_token"), str):
            return token
        # Refusals have status 200 and an error such as bad_verification_code.
        error = str(fields.get("error", answer.status_code))
        raise NotSignedIn(f"GitHub refused the sign-in ({error[:60]})")


COOKIE, STATE_COOKIE = "doppel_session", "doppel_sign_in"


class SignInPages:
    """The pages for signing in and out; `recognise` runs before every page."""

    def __init__(self, sign_in: SignIn, data: Callable[[], DashboardData]) -> None:
        self._sign_in = sign_in
        self._data = data

    def recognise(self) -> None:
        name = request.cookies.get(COOKIE)
        g.session = None
        if name:
            data = self._data()
            g.session = data.store.sessions.get(name, data.now())

    def login(self) -> Page:
        """Send the person to GitHub. With the cookie, `callback` checks that the sign-in began here."""
        state = secrets.token_urlsafe(24)
        answer = redirect(self._sign_in.address(state, _back()))
        next_path = request.args.get("next", "")
        _set(answer, STATE_COOKIE, f"{state}.{next_path if _is_ours(next_path) else ''}", 600)
        return answer

    def callback(self) -> Page:
        """Begin a session with the code that GitHub adds when it sends the person back."""
        state, _, next_path = request.cookies.get(STATE_COOKIE, "").partition(".")
        if not state or not hmac.compare_digest(state.encode(), request.args.get("state", "").encode()):
            return render_template("dashboard/problem.html", problem="This sign-in did not begin here."), 400
        if "code" not in request.args:
            return render_template(
                "dashboard/problem.html", problem="GitHub did not let the App know who you are."
            ), 403
        try:
            session = self._sign_in.who(request.args["code"], _back())
        except NotSignedIn as problem:
            return render_template("dashboard/problem.html", problem=str(problem)), 403
        answer = redirect(next_path if _is_ours(next_path) else url_for("dashboard.home"))
        self._end()
        data = self._data()
        _set(answer, COOKIE, data.store.sessions.begin(session, data.now()), HOURS * 3600)
        answer.delete_cookie(STATE_COOKIE)
        return answer

    def logout(self) -> Page:
        """End the session, so that copies of the cookie stop working, too."""
        self._end()
        answer = redirect(url_for("dashboard.home"))
        answer.delete_cookie(COOKIE)
        return answer

    def _end(self) -> None:
        if name := request.cookies.get(COOKIE):
            self._data().store.sessions.end(name)


def _back() -> str:
    """The address to which GitHub sends the person back; the App's manifest must list it."""
    return root_url() + url_for("dashboard.callback")


def _is_ours(path: str) -> bool:
    """Whether a path leads into the dashboard, not to another host, and is safe in a header."""
    return path.startswith("/dashboard/") and path.isprintable() and "\\" not in path and "//" not in path


def _set(answer: Response, name: str, value: str, seconds: int) -> None:
    answer.set_cookie(name, value, max_age=seconds, httponly=True, samesite="Lax", secure=is_https())
