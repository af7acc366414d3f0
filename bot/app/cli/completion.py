"""`doppel completion SHELL`: the completion script that click makes for `doppel`."""

from __future__ import annotations

import sys

import click
from click.shell_completion import shell_complete


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script.

    \b
    bash: eval "$(doppel completion bash)"
    zsh:  eval "$(doppel completion zsh)"
    fish: doppel completion fish | source
    """
    sys.exit(shell_complete(ctx.find_root().command, {}, "doppel", "_DOPPEL_COMPLETE", f"{shell}_source"))
