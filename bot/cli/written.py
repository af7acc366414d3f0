"""Options that name a file to be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bot.errors import UserError


def keep_apart(option: str, out: Path | None, *read: Path) -> None:
    """Raise UserError where the file to be written is one of those that are read, which it would overwrite."""
    if out is not None and out.exists() and any(one.exists() and out.samefile(one) for one in read):
        raise UserError(f"{option}: {out} is one of the files that are read, and would be overwritten")


class WrittenFile(click.Path):
    """A file that is written when the work is done, which can take hours: what is in its way is said before it."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Fails where there is no folder for it."""
        path = super().convert(value, param, ctx)
        assert isinstance(path, Path), "as it was asked for"
        if not path.absolute().parent.is_dir():
            self.fail(f"there is no folder {path.parent}", param, ctx)
        return path
