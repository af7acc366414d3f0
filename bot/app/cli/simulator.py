"""`doppel simulator` runs the GitHub simulator alone (E3). `doppel receive` sends one delivery, as GitHub would."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
import uuid
from functools import partial
from pathlib import Path

import click
import requests

from bot.app.cli.shared.console import echo_json, file_errors, read_bytes, refuse_overwriting
from bot.app.cli.shared.parameters import READ_FILE, READ_FILE_OR_STDIN, WrittenFile, json_option, web_address
from bot.deliveries.webhook import sign
from bot.domain.entities import RepoRef
from bot.domain.errors import SettingsError, Unavailable, UserError
from bot.domain.formats import counted
from bot.platform import settings as host
from bot.platform.local import check_address, is_here
from bot.platform.private_files import replace_file
from bot.simulator import Simulator
from bot.simulator import serve as serve_simulator
from bot.simulator.state.repositories import Role

ROLES: tuple[Role, ...] = ("read", "triage", "maintain", "admin")
# GitHub gives a receiver 10 seconds to answer ("Best practices for using webhooks").
TIMEOUT_SECONDS = 10

_HOOK = "Deliver webhooks to this address [default: no deliveries]."
_PORT = "The port to listen on, on 127.0.0.1; 0 takes a free port."
_ENV = "Write NAME=value lines for a shell to this file before listening."
_LIMITS = "Whether user tokens have rate limits, too."
_GUID = "The delivery id, a GUID; repeat an id for a redelivery [default: a new id]."


@click.command()
@click.option("--issues", type=READ_FILE, help="Seed the repository with this file: JSON Lines, plain or gzipped.")
@click.option("--repo", default="acme/app", show_default=True, metavar="OWNER/NAME", help="The repository to create.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help=_PORT)
@click.option("--webhook-url", metavar="URL", callback=web_address, help=_HOOK)
@click.option("--write-env", type=WrittenFile(), help=_ENV)
@click.option("--user-limits", type=click.Choice(["on", "off"]), default="on", show_default=True, help=_LIMITS)
def simulator(
    issues: Path | None, repo: str, port: int, webhook_url: str | None, write_env: Path | None, user_limits: str
) -> None:
    """Run a simulated GitHub: REST at its root, GraphQL at /graphql, signed webhooks.

    The simulator has one repository, on which the App is installed, and four people with tokens: sim-read, sim-triage,
    sim-maintain and sim-admin. It runs until it is interrupted. With POST, a script can write as anybody (/_sim/issues,
    /_sim/comments), break requests (/_sim/faults), rank similar issues (/_sim/similarity) and move time (/_sim/clock).
    The script must send the webhook secret in the header X-Simulator-Key.
    """
    refuse_overwriting("--write-env", write_env, issues)
    check_address("127.0.0.1", port)
    ref = RepoRef.parse(repo)
    sim = Simulator(webhook_url=webhook_url or "")
    sim.limits.exempt_users = user_limits == "off"
    made = sim.add_repository(str(ref))
    sim.install(str(ref))
    for role in ROLES:
        sim.set_permission(made, f"sim-{role}", role)
    try:
        count = sim.load_issues(issues, made) if issues else 0
    except (ValueError, OSError) as problem:
        raise UserError(f"--issues: {issues} is not a file of issues: {problem}") from problem

    sim.flush_index()
    try:
        server = serve_simulator(sim, port=port, announce=partial(_write_environment, write_env, sim))
    except OSError as taken:
        raise UserError(f"cannot listen on 127.0.0.1:{port}: {taken.strerror}") from taken
    done = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: done.set())
    click.echo(f"{server.url} is a simulated GitHub that has {ref} with {counted(count, 'issue')}; Ctrl-C ends it.")
    done.wait()
    server.stop()


def _write_environment(path: Path | None, sim: Simulator, url: str) -> None:
    """Write a client's settings to `path`, as shell variables, and the private key beside it. Each write is atomic."""
    if path is None:
        return
    key = path.absolute().with_name(f"{path.name}.pem")
    values = {
        "APP_ID": str(sim.app.id),
        "PRIVATE_KEY_PATH": str(key),
        "WEBHOOK_SECRET": sim.app.hook.secret,
        "GITHUB_API_URL": url,
        **{f"SIM_TOKEN_{role.upper()}": sim.user_token(f"sim-{role}") for role in ROLES},
    }
    with file_errors(path):
        replace_file(key, [sim.app.private_key])
        replace_file(path, [f"{name}={shlex.quote(value)}\n" for name, value in values.items()])


@click.command()
@click.argument("event")
@click.argument("file", type=READ_FILE_OR_STDIN)
@click.option("--url", help="The receiver's address [default: /webhook at DOPPEL_HOST and PORT].")
@click.option("--delivery", type=click.UUID, help=_GUID)
@json_option
def receive(event: str, file: Path, url: str | None, delivery: uuid.UUID | None, as_json: bool) -> None:
    """Sign the JSON payload in FILE (- for standard input) as EVENT, and post it to the receiver.

    EVENT is GitHub's name of the event, such as issues or issue_comment. Exit code 0 means accepted, 1 refused.
    """
    settings = host.load()
    if not settings.webhook_secrets:
        raise SettingsError("WEBHOOK_SECRET: not set; the receiver accepts only what is signed with it.")
    url, body = url or f"{settings.local_url}/webhook", read_bytes(file)
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": str(delivery or uuid.uuid4()),
        "X-Hub-Signature-256": sign(settings.webhook_secrets[0], body),
    }
    try:
        with requests.Session() as session:
            # Use no proxy for a receiver on this machine: the environment's proxy may be unable to reach this machine.
            session.trust_env = not is_here(url)
            answer = session.post(url, data=body, headers=headers, timeout=TIMEOUT_SECONDS)
    except ValueError as bad:
        # The address is invalid, or a header cannot hold EVENT or the credentials in the address.
        raise UserError(f"EVENT or --url: {bad}") from bad
    except requests.exceptions.RequestException as problem:
        kind = type(problem).__name__
        raise Unavailable(f"nobody answers at {url} ({kind}); is `doppel serve` running?") from problem
    if as_json:
        echo_json({"status": answer.status_code, "answer": answer.text})
    else:
        click.echo(f"{answer.status_code} {answer.reason}: {answer.text.strip()}")
    sys.exit(0 if answer.ok else 1)
