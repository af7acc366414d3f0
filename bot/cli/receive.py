"""`doppel receive EVENT FILE`: what GitHub does, by hand: sign a payload and post it to the receiver."""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path

import click
import requests

from bot import settings as host
from bot.cli.shared.files import READ_FILE_OR_STDIN, read_bytes
from bot.errors import SettingsError, Unavailable, UserError
from bot.machine.local import is_here
from bot.receiver.webhook import sign

# GitHub gives a receiver 10 seconds to answer ("Best practices for using webhooks").
TIMEOUT_SECONDS = 10


@click.command()
@click.argument("event")
@click.argument("file", type=READ_FILE_OR_STDIN)
@click.option("--url", help="The receiver's address [default: where DOPPEL_HOST and PORT put it, /webhook].")
@click.option(
    "--delivery",
    type=click.UUID,
    help="The delivery id, a GUID; give the same again for a redelivery [default: a new one].",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def receive(event: str, file: Path, url: str | None, delivery: uuid.UUID | None, as_json: bool) -> None:
    """Sign the JSON payload in FILE (- for standard input) as EVENT, and post it to the receiver.

    EVENT is GitHub's name of the event, such as issues or issue_comment. Exit code 0 means accepted, 1 refused.
    """
    settings = host.load()
    if not settings.webhook_secrets:
        raise SettingsError("WEBHOOK_SECRET: not set; the receiver accepts nothing that is not signed with it.")
    answer = post(
        url or f"{settings.local_url}/webhook",
        settings.webhook_secrets[0],
        event,
        read_bytes(file),
        str(delivery or uuid.uuid4()),
    )
    if as_json:
        click.echo(json.dumps({"status": answer.status_code, "answer": answer.text}))
    else:
        click.echo(f"{answer.status_code} {answer.reason}: {answer.text.strip()}")
    sys.exit(0 if answer.ok else 1)


def post(url: str, secret: str, event: str, body: bytes, delivery: str) -> requests.Response:
    """Deliver `body` as GitHub would; raises Unavailable where nobody listens and UserError for a wrong address."""
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": sign(secret, body),
    }
    try:
        with requests.Session() as session:
            session.trust_env = not is_here(url)
            return session.post(url, data=body, headers=headers, timeout=TIMEOUT_SECONDS)
    except ValueError as bad:
        if isinstance(bad, requests.exceptions.InvalidHeader) or getattr(bad, "object", None) == event:
            raise UserError(f"EVENT: {event!r} cannot be sent as a header") from None
        # Also a host's name that is too long, and a name or password that no header can hold.
        raise UserError(f"--url: {url!r} is not an http(s) address") from bad
    except requests.exceptions.RequestException as problem:
        raise Unavailable(
            f"nobody answers at {url} ({type(problem).__name__}); is `doppel serve` running?"
        ) from problem
