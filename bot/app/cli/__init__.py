"""The `doppel` command. A subcommand is in the module with its name, or in the module that BESIDE gives.

A module is imported on first use, and imports heavy packages only when its command runs, so that help and completion do
not wait for NumPy and SQLAlchemy. `shared/` holds code that several commands use.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import traceback
from errno import EDQUOT, ENOENT, ENOSPC
from typing import Any, NoReturn

import click

from bot.domain.errors import GitHubError, Retryable, UserError, access_refused
from bot.platform.private_files import is_of_a_database
from bot.platform.signals import EndedBySignal

# The commands by kind of user, each with its line in the overview, so that `doppel --help` imports no command.
GROUPS = {
    "For maintainers": {
        "find": "Look for earlier reports of an issue.",
        "scan": "Look through a backlog for groups that report the same thing.",
        "evaluate": "Measure Doppel's results on known duplicates.",
        "check-config": "Check a repository's doppel.yml.",
        "digest": "Say what the bot did lately, and how often it was right.",
        "calibrate": "Say which threshold is in force, or reset it.",
        "mcp": "Serve the tools to agents, over the Model Context Protocol.",
        "dedupe": "Merge a playbook's entries that say the same.",
        "action": "Handle the event of a workflow; action.yml calls this.",
    },
    "For hosts": {
        "serve": "Run web and worker together.",
        "worker": "Run a worker process.",
        "proxy": "Fetch deliveries from a channel, without a public address.",
        "doctor": "Say what is missing or wrong in the configuration.",
        "index": "Show the progress of each repository's index.",
        "jobs": "List the deliveries that were given up, and try them again.",
        "export": "Print everything that is stored about a repository.",
        "forget": "Erase everything that is stored about a repository.",
        "migrate": "Bring the database schema up to date.",
        "migrate-store": "Copy everything stored to another database.",
    },
    "For developers": {
        "demo": "See Doppel at work on a made-up repository.",
        "simulator": "Run only the GitHub simulator.",
        "receive": "Sign a payload and post it to the receiver.",
        "replay": "Replay past issues through the finder, in order of arrival.",
        "train": "Learn the weights from known duplicates.",
        "completion": "Print the shell completion script.",
    },
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
BESIDE = {
    "worker": "serve",
    "proxy": "serve",
    "calibrate": "digest",
    "forget": "export",
    "migrate-store": "migrate",
    "receive": "simulator",
}

USAGE, UNREACHABLE, FAULT, INTERRUPTED = 2, 3, 70, 130
_DISK_FULL = (ENOSPC, EDQUOT)
EXIT_CODES = {
    0: "All is well.",
    1: "The answer is no (a check failed, a delivery was refused, nothing was done), or a pipe is closed.",
    USAGE: "Wrong usage, or a setting or file to mend; the message says which.",
    UNREACHABLE: "GitHub or the database refused or could not be reached; trying again later may help.",
    FAULT: "A fault of Doppel's own.",
    INTERRUPTED: "Ctrl-C; SIGTERM gives 143, a closed terminal 129. `serve` and `demo --serve` end with 0; so do "
    "`worker` and `simulator`, unless the terminal closed, and `proxy` and `mcp --http`, but only after Ctrl-C.",
}


def module_of(command: str) -> str:
    return f"bot.app.cli.{BESIDE.get(command, command).replace('-', '_')}"


class LazyGroup(click.Group):
    """A group that imports a command's module on first use."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(module_of(cmd_name)), cmd_name.replace("-", "_"))
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; after Ctrl-C or a signal, exit with the code that shells use for the signal."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as end:
            number = end.number if isinstance(end, EndedBySignal) else signal.SIGINT
            text = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
            _complain(text, 128 + number)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=max(map(len, COMMANDS)))


@click.group(
    cls=LazyGroup,
    # If a person mistypes a command, click suggests the nearest of these names.
    commands=dict.fromkeys(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="doppel", prog_name="doppel")
def cli() -> None:
    """Doppel shows, in one calm comment, where a new issue was reported before."""


def main(args: list[str] | None = None) -> Any:
    """The console script: run a command, and turn an error into a line on stderr and one of EXIT_CODES."""
    # Set these before any command loads NumPy. Otherwise NumPy's threads would spin while they wait for each other.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Escape what the terminal's encoding lacks, as Python does on stderr. Names of files may hold such characters.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        # NO_COLOR is a convention: https://no-color.org.
        return cli.main(args=args, prog_name="doppel", color=False if os.environ.get("NO_COLOR") else None)
    except Exception as error:
        text, code = _message_and_code(error)
        if code == FAULT:
            traceback.print_exc()
        _complain(text, code)


def _message_and_code(error: Exception) -> tuple[str, int]:
    if isinstance(error, UserError):
        return str(error), USAGE
    if refused := access_refused(error):
        return refused, USAGE
    if isinstance(error, (Retryable, GitHubError)):
        return str(error), UNREACHABLE
    if type(error).__module__.startswith("sqlalchemy."):
        from bot.storage.failures import why

        return f"the database of DATABASE_URL failed ({why(error)}); see `doppel doctor`", UNREACHABLE
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        return f"cannot write: {error.strerror}", UNREACHABLE
    # A missing file is our fault, except a database. (If a person named the missing file, the command reports it.)
    if isinstance(error, OSError) and error.filename and (error.errno != ENOENT or is_of_a_database(error)):
        owner_hint = "; run as the user that owns it" if isinstance(error, PermissionError) else ""
        settings_hint = "; check DOPPEL_HOME and DATABASE_URL" if is_of_a_database(error) else ""
        return f"{error.filename}: {error.strerror}{owner_hint}{settings_hint}", USAGE
    return f"a fault of Doppel's own ({type(error).__name__}); the lines above say where, please report it", FAULT


def _complain(text: str, code: int) -> NoReturn:
    click.echo(f"doppel: {text}", err=True)
    sys.exit(code)
