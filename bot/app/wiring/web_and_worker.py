"""Runs web and worker under one supervisor. Until a GitHub App is set up, only web runs, with the set-up page."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping

from bot.app.wiring.clients import build_github, prepare_databases
from bot.domain.errors import Unavailable
from bot.platform.local import is_well
from bot.platform.processes import GUNICORN, PROXY, WORKER, Supervisor
from bot.platform.settings import Settings, load

READY_WITHIN_SECONDS = 180.0


def run_web_and_worker(
    settings: Settings, environ: Mapping[str, str], webhook_url: str | None, say: Callable[[str], None]
) -> None:
    """Run the processes until SIGTERM or SIGINT. They get the variables `environ`, from which `settings` was read.

    Tells GitHub to deliver to `webhook_url`. Without this URL, GitHub keeps its address, but a simulator is told to
    deliver here. `say` shows a line. Raises Unavailable if a process keeps ending, or does not answer in time.
    """
    prepare_databases(settings)
    token = settings.setup_token or secrets.token_urlsafe(24)
    variables = {**environ, "DOPPEL_SETUP_TOKEN": token} if settings.new else environ
    supervisor = Supervisor({"web": GUNICORN}, variables)
    supervisor.start()
    try:
        if settings.new:
            _wait_until_well(supervisor, f"{settings.local_url}/healthz")
            say("No GitHub App is set up yet. To create one, open")
            say(f"  {settings.local_url}/setup?token={token}")
            say("If you reach this machine at another address, keep the path and the token.")
            if not supervisor.run(until=lambda: not load(environ).new, every=0.5):
                return  # A signal has stopped the processes before the App was set up.
            say("The GitHub App is set up.")
            settings = load(environ)
        supervisor.add({"worker": WORKER} | ({"proxy": PROXY} if settings.webhook_proxy_url else {}))
        _wait_until_well(supervisor, f"{settings.local_url}/readyz")
        receiver = f"{settings.local_url}/webhook"
        say(f"Doppel takes deliveries at {receiver}")
        address = webhook_url or (receiver if settings.simulated else None)
        if address:
            build_github(settings).app().set_hook_url(address)
            say(f"GitHub delivers to {address}")
        supervisor.run()
    finally:
        supervisor.stop()


def _wait_until_well(supervisor: Supervisor, url: str) -> None:
    end = time.monotonic() + READY_WITHIN_SECONDS
    while not is_well(url):
        supervisor.check(time.monotonic())
        if time.monotonic() > end:
            raise Unavailable(f"the web process does not answer at {url} after {READY_WITHIN_SECONDS:.0f} s")
        time.sleep(0.1)
