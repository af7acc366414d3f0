"""Noticing that the database's file is another one, because somebody has restored a backup beside a running worker.

Each connection finds the new file by itself (`bot/store/database/sqlite.py`). But what a worker remembers of its
indexes is of the lost one, and the new one may lack tables: the worker ends, and the next begins with what is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.store.database.files import look_at


class Files:
    """The files of some databases, as they are now. Those of a server, and what is not there yet, are left out."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._begun = {url: found[0] for url in urls if (found := look_at(url)) is not None}
        self._before = {url: look_at(url) for url in self._begun}
        self._lost = False

    def replaced(self) -> bool:
        """Whether others stand there, and have not changed since the last look: one may be half of a copy."""
        found = {url: look_at(url) for url in self._begun}
        still, self._before = found == self._before, found
        self._lost |= any(one is None or one[0] != self._begun[url] for url, one in found.items())
        return self._lost and still and None not in found.values()
