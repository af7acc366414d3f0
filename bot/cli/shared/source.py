"""SOURCE, which several commands take: a file of issues, or a repository."""

from __future__ import annotations

from pathlib import Path

from bot.errors import InvalidArgument, UserError
from bot.model import RepoRef

_OF_FILES = (".jsonl", ".gz", ".json")


def read_source(text: str) -> Path | RepoRef:
    """The file of that name where there is one, else the repository. Raises UserError where it can be neither."""
    if Path(text).is_file():
        return Path(text)
    try:
        repo = RepoRef.parse(text)
    except InvalidArgument:
        raise UserError(f"{text}: there is no such file, and it is not of the form OWNER/REPO") from None
    if text.endswith(_OF_FILES):
        raise UserError(f"{text}: there is no such file")
    return repo
