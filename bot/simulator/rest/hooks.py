"""The App's webhook and its deliveries (https://docs.github.com/rest/apps/webhooks)."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from typing import Any

from bot.simulator.clock import iso
from bot.simulator.deliveries import Delivery
from bot.simulator.errors import ApiError, not_found
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.state.accounts import Hook

ROUTES = Routes()

_OUTCOMES = {"success": range(200, 400), "failure": range(400, 600)}


@ROUTES.add("GET", "/app/hook/config", auth="app", model="WebhookConfig")
def get_config(ctx: Context) -> Json:
    """The webhook's settings; the secret is never shown."""
    return _config(ctx.app.hook)


@ROUTES.add("PATCH", "/app/hook/config", auth="app", model="WebhookConfig", request="AppHookConfigPatchBody")
def update_config(ctx: Context) -> Json:
    """Change the settings that the body names."""
    hook, data = ctx.app.hook, ctx.data
    hook.url = data.get("url", hook.url)
    hook.secret = data.get("secret", hook.secret)
    hook.content_type = data.get("content_type", hook.content_type)
    hook.insecure_ssl = str(data.get("insecure_ssl", hook.insecure_ssl))
    return _config(hook)


@ROUTES.add("GET", "/app/hook/deliveries", auth="app", model="[HookDeliveryItem]")
def list_deliveries(ctx: Context) -> Reply:
    """The finished delivery attempts of the last days (`Webhooks.retention`), newest first, in pages with a cursor."""
    log = ctx.sim.webhooks.recent(ctx.app)
    if status := ctx.query.get("status"):
        # An attempt without an answer has code 0, and is neither success nor failure.
        codes = _OUTCOMES[ctx.word("status", status, tuple(_OUTCOMES))]
        log = [entry for entry in log if entry.status_code in codes]
    if cursor := ctx.query.get("cursor"):
        before = _read_cursor(cursor)
        log = [entry for entry in log if entry.id < before]
    _, size = ctx.paging()
    headers = {}
    if len(log) > size:
        following = urlsafe_b64encode(f"v1_{log[size - 1].id}".encode()).decode()
        query = f"per_page={size}&cursor={following}" + (f"&status={status}" if status else "")
        headers["Link"] = f'<{ctx.url}?{query}>; rel="next"'
    return Reply([_item(entry) for entry in log[:size]], headers=headers)


@ROUTES.add("GET", "/app/hook/deliveries/<int:delivery_id>", auth="app", model="HookDelivery")
def get_delivery(ctx: Context) -> Json:
    """One attempt, with the request and the response."""
    entry = _delivery(ctx)
    return _item(entry) | {
        "url": entry.url,
        "request": {"headers": entry.request_headers, "payload": entry.payload},
        "response": {"headers": entry.response_headers, "payload": entry.response_body},
    }


@ROUTES.add("POST", "/app/hook/deliveries/<int:delivery_id>/attempts", auth="app")
def redeliver(ctx: Context) -> Reply:
    """Send the delivery once more, under the same GUID."""
    ctx.sim.webhooks.redeliver(_delivery(ctx))
    return Reply({}, 202)


def _delivery(ctx: Context) -> Delivery:
    key = ctx.params["delivery_id"]
    for entry in ctx.sim.webhooks.recent(ctx.app):
        if entry.id == key:
            return entry
    raise not_found()


def _config(hook: Hook) -> Json:
    shown: dict[str, Any] = {"content_type": hook.content_type, "insecure_ssl": hook.insecure_ssl, "url": hook.url}
    return shown | ({"secret": "********"} if hook.secret else {})


def _item(entry: Delivery) -> Json:
    return {
        "id": entry.id,
        "guid": entry.guid,
        "delivered_at": iso(entry.delivered_at),
        "redelivery": entry.redelivery,
        "duration": entry.duration,
        "status": entry.status,
        "status_code": entry.status_code,
        "event": entry.event,
        "action": entry.action,
        "installation_id": entry.installation_id,
        "repository_id": entry.repository_id,
        "throttled_at": None,
    }


def _read_cursor(cursor: str) -> int:
    try:
        return int(urlsafe_b64decode(cursor.encode()).decode().removeprefix("v1_"))
    except (Error, ValueError):
        raise ApiError(400, "Invalid cursor parameter") from None
