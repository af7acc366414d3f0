"""The type of options that name a file to be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


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
