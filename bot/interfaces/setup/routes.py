"""The set-up page: a form, then GitHub's page, then back with the App's credentials.

The page needs the first-run token. `doppel serve` prints it in an address, and the page moves it into a cookie. The
token also signs the state that travels through GitHub and back. Once an App exists, the page shows only progress.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request, url_for
from itsdangerous import BadData, URLSafeTimedSerializer
from werkzeug.wrappers import Response as AnyResponse

from bot.domain.errors import DoppelError, InvalidArgument, SettingsError
from bot.interfaces.pages import POLICY, Page, is_https, protect, root_url
from bot.interfaces.setup.registration import (
    CannotSave,
    Credentials,
    check_writable,
    github_server,
    make_manifest,
    read_choices,
    save_credentials,
)
from bot.platform.local import is_here
from bot.platform.settings import Settings

COOKIE = "doppel_setup"
# GitHub sends the browser back with a code that is valid for an hour.
_HOUR = 3600
# GitHub shows the key only once.
_LOST = "The App's key is lost by that: delete the App on GitHub, mend this, and create another."
# The pages that create an App.
_MAKING = ("setup.form", "setup.start", "setup.callback")


@dataclass(frozen=True, slots=True)
class SetupBackend:
    """The values and functions that the pages need from the bot.

    `convert` exchanges a code for credentials; it takes the code, the API's address, and a channel such as smee.io's.
    `slug_of_app` asks GitHub for the App's name, and is None before an App exists. `arrived` says whether GitHub has
    delivered anything. `lasting` says whether files survive a restart. If not, the page shows the credentials to copy.
    """

    settings: Settings
    permissions: Mapping[str, str]
    events: frozenset[str]
    convert: Callable[[str, str, str], Credentials]
    slug_of_app: Callable[[], str] | None
    lasting: bool
    arrived: Callable[[], bool]


def make_setup(setup: SetupBackend) -> Blueprint:
    pages = Blueprint("setup", __name__, template_folder="templates", url_prefix="/setup", static_folder="static")
    protect(pages)
    routes = _Pages(setup)
    pages.before_request(routes.require_token)
    pages.before_request(routes.redirect_if_set_up)
    pages.add_url_rule("", "form", routes.form)
    pages.add_url_rule("", "start", routes.start, methods=["POST"])
    pages.add_url_rule("/callback", "callback", routes.callback)
    pages.add_url_rule("/done", "done", routes.done)
    pages.add_url_rule("/status", "status", routes.status)
    return pages


class _Pages:
    def __init__(self, setup: SetupBackend) -> None:
        self._setup = setup
        self._settings = setup.settings
        self._signer = URLSafeTimedSerializer(self._settings.setup_token, salt="doppel set-up")

    def require_token(self) -> AnyResponse | tuple[str, int] | None:
        """Require the token, and move it from the address to a cookie: browsers save addresses."""
        if (request.endpoint or "").endswith(".static"):
            return None
        token = request.args.get("token", "")
        if token and self._is_token(token):
            response = redirect(url_for("setup.form"))
            response.set_cookie(COOKIE, token, httponly=True, samesite="Lax", secure=is_https(), path="/setup")
            return response
        if not self._is_token(request.cookies.get(COOKIE, "")):
            return render_template("setup/closed.html"), 403
        return None

    def redirect_if_set_up(self) -> AnyResponse | None:
        if self._setup.slug_of_app is not None and request.endpoint in _MAKING:
            return redirect(url_for("setup.done"))
        return None

    def form(self) -> Page:
        # GitHub cannot reach this machine at a local address; a simulator can.
        reachable = is_here(self._settings.github_api_url) or not is_here(root_url())
        entered = {
            "name": f"Doppel {secrets.token_hex(2)}",
            "organization": "",
            "address": root_url() if reachable else "",
            "channel": self._settings.webhook_proxy_url,
            "github": github_server(self._settings.github_api_url).web,
            "watch": "",
        }
        return render_template("setup/form.html", entered=entered, problem="")

    def start(self) -> Page:
        """Check the form, and answer with a page on which the browser posts the manifest to GitHub."""
        fields = ("name", "organization", "address", "channel", "github", "watch")
        entered = {name: request.form.get(name, "") for name in fields}
        try:
            server = github_server(entered["github"])
            choice = read_choices(
                entered["name"],
                entered["organization"],
                entered["address"],
                entered["channel"],
                simulated=is_here(server.api),
            )
            # If the key could not be stored, the new App would have to be deleted on GitHub.
            if self._setup.lasting:
                check_writable(self._settings.home)
        except (InvalidArgument, SettingsError) as problem:
            return render_template("setup/form.html", entered=entered, problem=str(problem)), 422
        manifest = make_manifest(choice, root_url(), self._setup.permissions, self._setup.events)
        state = self._signer.dumps({"api": server.api, "proxy": choice.proxy, "watch": bool(entered["watch"])})
        action = choice.form_action(server, str(state))
        page = Response(
            render_template("setup/leave.html", action=action, manifest=json.dumps(manifest), web=server.web)
        )
        page.headers["Content-Security-Policy"] = f"{POLICY}; form-action {server.web}; frame-ancestors 'none'"
        return page

    def callback(self) -> Page:
        """Exchange the code, which GitHub has added to this address, for the App's credentials."""
        try:
            state: dict[str, Any] = self._signer.loads(request.args.get("state", ""), max_age=_HOUR)
        except BadData:
            return self._failed("This does not come from the set-up page, or it is over an hour old.", 400)
        try:
            if self._setup.lasting:
                check_writable(self._settings.home)
        except CannotSave as problem:
            return self._failed(f"{problem} Mend that, and load this page again before it is an hour old.", 500)
        except SettingsError as problem:
            return self._failed(str(problem), 409)
        try:
            credentials = self._setup.convert(request.args.get("code", ""), state["api"], state["proxy"])
            if state["watch"]:
                credentials = replace(credentials, mode="shadow")
            if not self._setup.lasting:
                variables = credentials.variables().items()
                web = github_server(state["api"]).web
                return render_template(
                    "setup/copy.html", variables=variables, install=_install_url(web, credentials.app.slug)
                )
            save_credentials(self._settings.home, credentials)
        except CannotSave as problem:
            return self._failed(f"{problem} {_LOST}", 500)
        except SettingsError as problem:
            return self._failed(str(problem), 409)
        except DoppelError as problem:
            return self._failed(f"GitHub did not hand over the App: {problem}.", 502)
        return self._done(github_server(state["api"]).web, credentials.app.slug, state["watch"])

    def done(self) -> Page:
        """The progress, or an error page if GitHub cannot be asked for the App's name."""
        if self._setup.slug_of_app is None:
            return redirect(url_for("setup.form"))
        try:
            slug = self._setup.slug_of_app()
        except DoppelError as problem:
            return self._failed(f"GitHub does not say which App this is: {problem}.", 502)
        return self._done(github_server(self._settings.github_api_url).web, slug, self._settings.mode == "shadow")

    def status(self) -> Response:
        """For the page's script: whether this process has the credentials, and whether GitHub has delivered."""
        return jsonify(ready=self._setup.slug_of_app is not None, arrived=self._arrived())

    def _arrived(self) -> bool:
        """Whether GitHub has delivered; False while the queue does not answer."""
        try:
            return self._setup.slug_of_app is not None and self._setup.arrived()
        except DoppelError:
            return False

    def _done(self, web: str, slug: str, watching: bool) -> str:
        install = _install_url(web, slug)
        return render_template(
            "setup/done.html", install=install, slug=slug, arrived=self._arrived(), watching=watching
        )

    @staticmethod
    def _failed(problem: str, status: int) -> tuple[str, int]:
        return render_template("setup/failed.html", problem=problem), status

    def _is_token(self, value: str) -> bool:
        return hmac.compare_digest(value.encode(), self._settings.setup_token.encode())


def _install_url(web: str, slug: str) -> str:
    return f"{web}/apps/{slug}/installations/new"
