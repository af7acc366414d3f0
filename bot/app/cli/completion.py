"""`doppel completion SHELL`: the completion script that click makes for this command."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


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
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion is known for {shell}")
    click.echo(kind(ctx.find_root().command, {}, "doppel", "_DOPPEL_COMPLETE").source())
