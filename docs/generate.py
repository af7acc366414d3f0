"""Writes what is made from the code: docs/cli.md, docs/example-comment.md, docs/evaluation.svg, the JSON Schema of a
repository's settings, and the tables of docs/config.md, docs/repository-settings.md, docs/commands.md and
docs/words.md.

`python -m docs.generate` writes them; tests/test_docs.py holds that they are current.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from bot.app.cli import COMMANDS, EXIT_CODES, cli
from bot.conversation.messages.catalogue import Message, declared, english
from bot.conversation.render.escape import code
from bot.conversation.render.phrases import commands_list
from bot.platform.settings import VARIABLES
from docs import evaluated, example
from docs.repository_settings import SCHEMA_NAME, schema_text, settings_table, sources_table

DOCS = Path(__file__).parent
PICTURE = DOCS / "evaluation.svg"
BEGIN, END = "<!-- made from the code: begin -->", "<!-- made from the code: end -->"


def cli_page() -> str:
    """docs/cli.md: the help of every command, as the terminal shows it."""
    context = click.Context(cli, info_name="doppel", terminal_width=100, **cli.context_settings)
    parts = [
        "# The command line\n",
        "Made from the code by `make docs`. Where a program might read what a command says, `--json` prints it as",
        "JSON; errors go to stderr.\n",
        "| exit code | means |\n|---|---|",
        "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()) + "\n",
        _block("doppel --help", cli.get_help(context)),
    ]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        parts.append(f"## doppel {name}\n")
        parts += _helps(command, name, context)
    return "\n".join(parts)


def _helps(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    """The help of a command, and of those below it."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
    yield _block(f"{context.command_path} --help", command.get_help(context))
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _helps(below, str(below.name), context)


def config_table() -> str:
    """The table of environment variables in docs/config.md."""
    rows = [f"| `{v.name}` | {v.meaning} | {v.default or '–'} |" for v in VARIABLES]
    return "\n".join(["| variable | meaning | default |", "|---|---|---|", *rows])


def words_tables() -> str:
    """Every text by its section, with its variables and its English words."""
    sections: dict[str, list[Message]] = {}
    for one in declared().values():
        sections.setdefault(one.section, []).append(one)
    return "\n\n".join(
        f"### {section}\n\n| text | variables | what it is for |\n|---|---|---|\n"
        + "\n".join(
            f"| `{one.name}` | {' '.join(map(code, english().variables(one.name))) or '–'} | {one.purpose} |"
            for one in texts
        )
        for section, texts in sections.items()
    )


def with_table(page: str, table: str) -> str:
    """`page` with what stands between its two marks replaced by `table`."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def pages() -> dict[Path, str]:
    """Every generated page with the text that it should have; the PICTURE alone takes a while to make."""
    tables = {
        "config.md": config_table(),
        "repository-settings.md": f"{settings_table()}\n\n## Sources\n\n{sources_table()}",
        "commands.md": commands_list(english()),
        "words.md": words_tables(),
    }
    return {
        DOCS / "cli.md": cli_page(),
        DOCS / "example-comment.md": example.page(),
        DOCS / SCHEMA_NAME: schema_text(),
        **{DOCS / name: with_table((DOCS / name).read_text(encoding="utf-8"), made) for name, made in tables.items()},
    }


def _block(command: str, text: str) -> str:
    return f"```console\n$ {command}\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    for path, text in (*pages().items(), (PICTURE, evaluated.picture())):
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path}")
