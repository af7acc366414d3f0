"""GitHub Apps: registering one (directly or from a manifest), its keys, and signing in to it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta

from bot.simulator.keys import KeyPair, new_pair
from bot.simulator.manifest import Manifest, from_mapping, slug_of
from bot.simulator.operations.accounts import who
from bot.simulator.state.accounts import Account, App, Hook, ManifestCode, SignInCode
from bot.simulator.state.ids import node_id
from bot.simulator.state.world import World, locked

# https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
CODE_LIFETIME = timedelta(hours=1)
# https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
SIGN_IN_LIFETIME = timedelta(minutes=10)


@locked
def register_app(world: World, manifest: Manifest, owner: str | Account, keys: KeyPair) -> App:
    """A new GitHub App with its bot account. Webhooks go to the manifest's `hook_url`, if any."""
    app_id = world.ids.next("app")
    slug = slug_of(manifest.name)
    bot = who(world, f"{slug}[bot]", "Bot")  # `who` creates a missing account.
    bot.app_id = app_id
    app = App(
        id=app_id,
        node_id=node_id("A", app_id),
        slug=slug,
        name=manifest.name,
        owner=who(world, owner),
        bot=bot,
        client_id=f"Iv23li{secrets.token_hex(7)}",
        client_secret=secrets.token_hex(20),
        private_key=keys.private,
        public_keys=[keys.public],
        permissions=dict(manifest.permissions),
        events=list(manifest.events),
        hook=Hook(world.ids.next("hook"), manifest.hook_url, secrets.token_hex(20)),
        created_at=world.now(),
        single_files=manifest.single_files,
        callback_urls=manifest.callback_urls,
    )
    world.apps[app_id] = app
    return app


@locked
def generate_key(world: World, app: App) -> str:
    """Add a private key, like the button in an App's settings; the old keys stay valid. Returns the key as PEM."""
    keys = new_pair()
    app.public_keys.append(keys.public)
    return keys.private


@locked
def delete_oldest_key(world: World, app: App) -> None:
    """Delete the oldest key, but never the only one, as on GitHub."""
    if len(app.public_keys) > 1:
        del app.public_keys[0]


@locked
def manifest_code(world: World, manifest: Mapping[str, object], owner: str | Account) -> str:
    """The code that GitHub gives to a person who submits a manifest. `convert_manifest` accepts it once."""
    code = secrets.token_hex(20)
    expires = world.clock.now() + CODE_LIFETIME
    world.manifest_codes[code] = ManifestCode(code, dict(manifest), who(world, owner), expires)
    return code


@locked
def convert_manifest(world: World, code: str) -> App | None:
    """The new App for a code; None if the code is unknown, used, or over an hour old."""
    record = world.manifest_codes.pop(code, None)
    if record is None or record.expires_at <= world.clock.now():
        return None
    return register_app(world, from_mapping(record.manifest), record.owner, new_pair())


@locked
def sign_in_code(world: World, app: App, login: str | Account, redirect_url: str) -> str:
    """The code that GitHub gives to a person who signs in to an App."""
    code = secrets.token_hex(10)
    expires = world.clock.now() + SIGN_IN_LIFETIME
    world.sign_in_codes[code] = SignInCode(code, app, who(world, login), redirect_url, expires)
    return code


@locked
def exchange_sign_in(world: World, client_id: str, client_secret: str, code: str, redirect_url: str) -> str | None:
    """The user access token for a code. None if the code is unknown, used or old, or if another argument is wrong."""
    record = world.sign_in_codes.get(code)
    if record is None or record.app.client_id != client_id or record.app.client_secret != client_secret:
        return None
    del world.sign_in_codes[code]
    if record.expires_at <= world.clock.now() or (redirect_url and redirect_url != record.redirect_url):
        return None
    token = f"ghu_{secrets.token_hex(18)}"
    world.user_access_tokens[token] = (record.user, record.app)
    return token
