"""Writes the pages that are made from the code: docs/cli.md and the table of docs/config.md.

`python -m docs.generate` writes them; tests/test_docs.py holds that they are current.
"""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli import COMMANDS, cli
from bot.settings import VARIABLES

DOCS = Path(__file__).parent
BEGIN, END = "<!-- made from the code: begin -->", "<!-- made from the code: end -->"


def cli_page() -> str:
    """docs/cli.md: the help of every command, as the terminal shows it."""
    context = click.Context(cli, info_name="doppel", max_content_width=100, terminal_width=100)
    parts = [
        "# The command line\n",
        "Made from the code by `make docs`. Exit codes: 0 all well, 1 the answer is no, 2 wrong usage or a setting to",
        "mend, 3 GitHub or the database could not be reached, 70 a fault of Doppel's own.\n",
        _block("doppel --help", cli.get_help(context)),
    ]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context, max_content_width=100, terminal_width=100)
        parts.append(f"## doppel {name}\n")
        parts.append(_block(f"doppel {name} --help", command.get_help(inner)))
    return "\n".join(parts)


def config_table() -> str:
    """The table of environment variables in docs/config.md."""
    rows = [f"| `{v.name}` | {v.meaning} | {v.default or '–'} |" for v in VARIABLES]
    return "\n".join(["| variable | meaning | default |", "|---|---|---|", *rows])


def with_table(page: str, table: str) -> str:
    """`page` with what stands between its two marks replaced by `table`."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def pages() -> dict[Path, str]:
    """Every generated page with the text that it should have."""
    config = DOCS / "config.md"
    return {DOCS / "cli.md": cli_page(), config: with_table(config.read_text(encoding="utf-8"), config_table())}


def _block(command: str, text: str) -> str:
    return f"```console\n$ {command}\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path}")
