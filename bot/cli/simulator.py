"""`doppel simulator`: the GitHub simulator alone, for a bot or any other GitHub client to talk to (E3)."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Mapping
from pathlib import Path

import click

from bot.cli.shared.files import READ_FILE, keep_apart
from bot.cli.shared.web_address import WebAddress
from bot.counted import counted
from bot.errors import UserError
from bot.machine.private_files import replace_file
from bot.model import RepoRef
from bot.simulator import Simulator, serve
from bot.simulator.state.repositories import Role

ROLES: tuple[Role, ...] = ("read", "triage", "maintain", "admin")


@click.command()
@click.option(
    "--issues",
    "issues_file",
    type=READ_FILE,
    help="Seed the repository with this file: JSON Lines, plain or gzipped.",
)
@click.option("--repo", default="acme/app", show_default=True, metavar="OWNER/NAME", help="The repository to make.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Where to listen on 127.0.0.1; 0 takes a free port.",
)
@click.option("--webhook-url", type=WebAddress(), help="Where to deliver webhooks; without it nowhere yet.")
@click.option(
    "--write-env",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write NAME=value lines for a shell to this file before listening.",
)
@click.option(
    "--user-limits",
    type=click.Choice(["on", "off"]),
    default="on",
    show_default=True,
    help="Whether rate limits hold for user tokens, too.",
)
def simulator(
    issues_file: Path | None, repo: str, port: int, webhook_url: str | None, write_env: Path | None, user_limits: str
) -> None:
    """Run a simulated GitHub: REST at its root, GraphQL at /graphql, signed webhooks.

    It has one repository, on which the App is installed, and four people with tokens: sim-read, sim-triage,
    sim-maintain and sim-admin. It runs until it is interrupted. POST /_sim/issues, /_sim/comments, /_sim/faults,
    /_sim/similarity and /_sim/clock let a script act as anybody, break requests, have similar issues ranked and move
    time; they want the webhook secret in the header X-Simulator-Key.
    """
    keep_apart("--write-env", write_env, *([issues_file] if issues_file else []))
    ref = RepoRef.parse(repo)
    sim = Simulator(webhook_url=webhook_url or "")
    sim.limits.exempt_users = user_limits == "off"
    made = sim.add_repository(str(ref))
    sim.install(str(ref))
    tokens: dict[str, str] = {}
    for role in ROLES:
        sim.set_permission(made, f"sim-{role}", role)
        tokens[role] = sim.user_token(f"sim-{role}")
    try:
        count = sim.load_issues(issues_file, made) if issues_file else 0
    except (ValueError, OSError) as problem:
        raise UserError(f"--issues: {issues_file} is not a file of issues: {problem}") from problem

    def announce(url: str) -> None:
        if write_env is not None:
            write_environment(write_env, url, sim.app.id, sim.app.private_key, sim.app.hook.secret, tokens)

    sim.flush_index()
    try:
        server = serve(sim, port=port, announce=announce)
    except OSError as problem:
        write = f", or write {write_env}" if write_env else ""
        raise UserError(f"Cannot listen on port {port}{write}: {problem.strerror}") from problem
    done = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: done.set())
    click.echo(f"{server.url} is a simulated GitHub that has {ref} with {counted(count, 'issue')}; Ctrl-C ends it.")
    done.wait()
    server.stop()


def write_environment(
    path: Path, url: str, app_id: int, private_key: str, webhook_secret: str, tokens: Mapping[str, str]
) -> None:
    """Write what a client needs as `NAME=value` lines that a shell can source, and the key to a file next to it.

    Both files can be read by their owner only. The file appears at once and whole, so that a script may wait for it.
    """
    key = path.absolute().with_name(f"{path.name}.pem")
    values = {
        "APP_ID": str(app_id),
        "PRIVATE_KEY_PATH": str(key),
        "WEBHOOK_SECRET": webhook_secret,
        "GITHUB_API_URL": url,
        **{f"SIM_TOKEN_{role.upper()}": token for role, token in tokens.items()},
    }
    replace_file(key, [private_key])
    replace_file(path, [f"{name}={shlex.quote(value)}\n" for name, value in values.items()])
