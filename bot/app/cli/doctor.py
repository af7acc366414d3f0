"""`doppel doctor`: what is missing or wrong in the configuration, and how to fix it."""

from __future__ import annotations

import dataclasses
import sys

import click

from bot.app.cli.shared.console import echo_json
from bot.app.cli.shared.parameters import json_option
from bot.interfaces.doctor import examine

_COLOURS = {"ok": "green", "warning": "yellow", "broken": "red"}


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check settings, databases, worker, models, permissions, and the ways to and from GitHub; changes nothing.

    Exit code 0: Doppel will work. 1: something is broken; the line about it says how to fix it.
    """
    from bot.app.wiring.clients import build_endpoint, build_github, embedder
    from bot.app.wiring.manifest import events, permissions

    findings = []
    for finding in examine(permissions(), events(), build_github, embedder, build_endpoint):
        findings.append(finding)
        if not as_json:
            click.secho(f"{finding.health:8}", fg=_COLOURS[finding.health], bold=True, nl=False)
            click.echo(f"{finding.subject}: {finding.says}" + (f"\n        {finding.mend}" if finding.mend else ""))
    broken = any(finding.health == "broken" for finding in findings)
    if as_json:
        echo_json({"ok": not broken, "findings": [dataclasses.asdict(finding) for finding in findings]})
    sys.exit(1 if broken else 0)
