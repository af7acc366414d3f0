"""Signing in and out: the cookies, and the way to GitHub and back."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from flask import g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from bot.interfaces.dashboard.data import Data
from bot.interfaces.dashboard.sign_in import NotSignedIn, SignIn
from bot.interfaces.pages import Page, is_https, root_url
from bot.storage.sessions import HOURS

COOKIE, STATE_COOKIE = "doppel_session", "doppel_sign_in"


class SignInPages:
    """`recognise` finds out before each page who asks; the others are pages."""

    def __init__(self, sign_in: SignIn, data: Callable[[], Data]) -> None:
        self._sign_in = sign_in
        self._data = data

    def recognise(self) -> None:
        """Find out who asks, before any page."""
        name = request.cookies.get(COOKIE)
        g.session = self._data().session(name) if name else None

    def login(self) -> Page:
        """Send the person to GitHub. What comes back must fit the cookie, so that nobody is signed in by a link."""
        state = secrets.token_urlsafe(24)
        answer = redirect(self._sign_in.address(state, _back()))
        following = request.args.get("next", "")
        _set(answer, STATE_COOKIE, f"{state}.{following if _is_ours(following) else ''}", 600)
        return answer

    def callback(self) -> Page:
        """Take the code that GitHub sends the person back with."""
        state, _, following = request.cookies.get(STATE_COOKIE, "").partition(".")
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
        answer = redirect(following if _is_ours(following) else url_for("dashboard.home"))
        self._end()
        _set(answer, COOKIE, self._data().begin_session(session), HOURS * 3600)
        answer.delete_cookie(STATE_COOKIE)
        return answer

    def logout(self) -> Page:
        """End the session, in this browser and wherever its cookie was copied to."""
        self._end()
        answer = redirect(url_for("dashboard.home"))
        answer.delete_cookie(COOKIE)
        return answer

    def _end(self) -> None:
        if name := request.cookies.get(COOKIE):
            self._data().store.sessions.end(name)


def _back() -> str:
    """Where GitHub sends the person back to; one of the addresses in the manifest."""
    return root_url() + url_for("dashboard.callback")


def _is_ours(path: str) -> bool:
    """Whether a path leads into the dashboard, to no other host, and can stand in a header."""
    return path.startswith("/dashboard/") and path.isprintable() and "\\" not in path and "//" not in path


def _set(answer: Response, name: str, value: str, seconds: int) -> None:
    answer.set_cookie(name, value, max_age=seconds, httponly=True, samesite="Lax", secure=is_https())
