"""`doppel doctor`: what is missing or wrong in the configuration, and how to mend it."""

from __future__ import annotations

import dataclasses
import json
import sys

import click

from bot import settings as host
from bot.doctor import Health, examine

_COLOURS = {Health.WELL: "green", Health.WARNING: "yellow", Health.BROKEN: "red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Check settings, databases, worker, model, permissions, and the ways to and from GitHub; changes nothing.

    Exit code 0: it will work. 1: something is broken; each such line says how to mend it.
    """
    # These take a second to import, which `doppel --help` need not pay.
    from bot.wiring.clients import build_github, embedder
    from bot.wiring.manifest import wanted

    findings = []
    read = host.load, host.misspelt(), host.unread_lines(), host.parts_of_an_app
    for finding in examine(*read, wanted(), build_github, embedder):
        findings.append(finding)
        if not as_json:
            click.secho(f"{finding.health:8}", fg=_COLOURS[finding.health], bold=True, nl=False)
            click.echo(f"{finding.subject}: {finding.says}" + (f"\n        {finding.mend}" if finding.mend else ""))
    broken = any(finding.health is Health.BROKEN for finding in findings)
    if as_json:
        click.echo(json.dumps({"ok": not broken, "findings": [dataclasses.asdict(f) for f in findings]}, indent=2))
    sys.exit(1 if broken else 0)
