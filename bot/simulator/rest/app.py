"""The App itself, and its creation from a manifest (https://docs.github.com/rest/apps/apps)."""

from __future__ import annotations

from bot.simulator.errors import not_found
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json, apps

ROUTES = Routes()


@ROUTES.add("GET", "/app", auth="app", model="Integration")
def get_app(ctx: Context) -> Json:
    """The App that signed the JWT."""
    return apps.app_itself(ctx.sim, ctx.app)


@ROUTES.add("POST", "/app-manifests/<code>/conversions", model="AppManifestsCodeConversionsPostResponse201")
def convert_manifest(ctx: Context) -> Reply:
    """Exchange a code for the new App's credentials. A code works once, within an hour."""
    app = ctx.sim.convert_manifest(ctx.params["code"])
    if app is None:
        raise not_found()
    body = apps.app_itself(ctx.sim, app) | {
        "client_secret": app.client_secret,
        "webhook_secret": app.hook.secret,
        "pem": app.private_key,
    }
    return Reply(body, 201)
