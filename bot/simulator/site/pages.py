"""The simulated GitHub's pages for people: create an App from a manifest, install it, sign in.

https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from flask import Blueprint, abort, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response

from bot.simulator import manifest as manifests
from bot.simulator.simulator import Simulator
from bot.simulator.state.accounts import App

# The simulator's key in the WSGI environment.
SIMULATOR = "bot.simulator"
Page = str | Response | tuple[str, int]


def make_site() -> Blueprint:
    site = Blueprint("site", __name__, template_folder="templates")
    methods = ["GET", "POST"]
    site.add_url_rule("/settings/apps/new", "new", new_app, methods=methods)
    site.add_url_rule("/organizations/<organization>/settings/apps/new", "new_in", new_app, methods=methods)
    site.add_url_rule("/apps/<slug>/installations/new", "install", install, methods=methods)
    site.add_url_rule("/login/oauth/authorize", "authorize", authorize, methods=methods)
    site.add_url_rule("/login/oauth/access_token", "access_token", access_token, methods=["POST"])
    site.before_request(_refuse_other_sites)
    site.after_request(_refuse_frames)
    return site


def new_app(organization: str = "") -> Page:
    """Show what an App asks for. If a person agrees, redirect to the manifest's `redirect_url` with a code."""
    sim = _sim()
    try:
        manifest = json.loads(request.form.get("manifest", ""))
        if problem := manifests.problem(manifest):
            manifest = {}
    except ValueError:
        manifest, problem = {}, "Error Invalid GitHub App configuration: the manifest is not JSON"
    with sim.lock:
        name = request.form.get("name") or str(manifest.get("name") or "")
        slug = manifests.slug_of(name)
        unavailable = not slug or any(app.slug == slug for app in sim.apps.values())
        # A person agrees by sending this page's own form. No other form has the field `login`.
        agreed = "login" in request.form
        if agreed and unavailable and not problem:
            problem = "Name is already in use"
        if problem or not agreed:
            page = render_template(
                "site/new_app.html",
                manifest=manifest,
                text=json.dumps(manifest),
                name=name,
                organization=organization,
                people=_people(sim),
                problem=problem,
            )
            return (page, 422) if problem else page
        owner = sim.add_organization(organization) if organization else sim.add_user(request.form["login"])
        code = sim.manifest_code(manifest | {"name": name}, owner)
    return redirect(_with(str(manifest["redirect_url"]), code=code, state=request.args.get("state", "")))


def install(slug: str) -> Page:
    """Let a person install an App on an account or a repository."""
    sim = _sim()
    with sim.lock:
        app = next((app for app in sim.apps.values() if app.slug == slug), None)
        if app is None:
            abort(404)
        target = request.form.get("target", "")
        if "/" in target and target.lower() not in sim.names:
            return "Not Found", 404
        if target:
            sim.install(target, app_id=app.id)
        repositories = sorted(repo.full_name for repo in sim.repositories.values())
        owners = sorted({name.split("/")[0] for name in repositories})
        return render_template("site/install.html", app=app, targets=[*owners, *repositories], done=target)


def authorize() -> Page:
    """Ask a person whether an App may know who they are. If so, send them back with a code."""
    sim = _sim()
    with sim.lock:
        app = _app(sim, request.args.get("client_id", ""))
        # A `redirect_uri` in the request must be a callback URL of the App. The default is the first callback URL.
        back = request.args.get("redirect_uri") or next(iter(app.callback_urls), "")
        if back not in app.callback_urls:
            return render_template("site/authorize.html", app=app, people=(), problem="redirect_uri mismatch"), 400
        if "login" not in request.form:
            return render_template("site/authorize.html", app=app, people=_people(sim), problem="")
        code = sim.sign_in_code(app, request.form["login"], back)
    return redirect(_with(back, code=code, state=request.args.get("state", "")))


def access_token() -> Response:
    """Exchange the code of `authorize` for a token. Refusals have status 200, as GitHub's do."""
    fields = {**request.args.to_dict(), **request.form.to_dict(), **(request.get_json(silent=True) or {})}
    client, secret, code, back = (
        str(fields.get(name, "")) for name in ("client_id", "client_secret", "code", "redirect_uri")
    )
    token = _sim().exchange_sign_in(client, secret, code, back)
    if token is None:
        return jsonify(error="bad_verification_code", error_description="The code passed is incorrect or expired.")
    return jsonify(access_token=token, token_type="bearer", scope="")  # noqa: S106


def _refuse_other_sites() -> None:
    """Answer 403 to another site's form, unless `manifest` is its only field: a manifest is only shown."""
    if set(request.form) - {"manifest"} and _is_from_elsewhere():
        abort(403)


def _is_from_elsewhere() -> bool:
    """Whether another site's page sent the request, by `Sec-Fetch-Site`. Some browsers send only `Origin`."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin != request.host_url.rstrip("/")


def _refuse_frames(response: Response) -> Response:
    """Forbid frames, as GitHub does: otherwise a page could make people click what they do not see."""
    response.headers["X-Frame-Options"] = "deny"
    return response


def _people(sim: Simulator) -> list[str]:
    """All people: those with a role in a repository, and then the many authors of loaded issues."""
    ids_with_roles = {key for repo in sim.repositories.values() for key, role in repo.roles.items() if role != "none"}
    people = [account for account in sim.accounts.values() if account.type == "User"]
    return [one.login for one in sorted(people, key=lambda one: (one.id not in ids_with_roles, one.login))]


def _app(sim: Simulator, client_id: str) -> App:
    record = next((app for app in sim.apps.values() if app.client_id == client_id), None)
    if record is None:
        abort(404)
    return record


def _with(url: str, **query: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query=urlencode([*parse_qsl(parts.query), *query.items()])))


def _sim() -> Simulator:
    sim: Simulator = request.environ[SIMULATOR]
    return sim
