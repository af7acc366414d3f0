"""Files of a repository as last fetched, such as its settings file, with the time of fetching."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.store.parts.base import Part
from bot.store.tables.schema import texts


@dataclass(frozen=True, slots=True)
class StoredText:
    """`text` is None where the file does not exist."""

    text: str | None
    fetched_at: float

    def is_fresh(self, now: float, seconds: float) -> bool:
        """Whether it was fetched within so many seconds."""
        # What was fetched long after now is from before the clock was set back.
        return abs(now - self.fetched_at) < seconds


class Texts(Part):
    """The `texts` table: by repository and a name that the caller chooses."""

    def get(self, repo_id: int, name: str) -> StoredText | None:
        """The text as last fetched, None if it never was."""
        query = sa.select(texts.c.text, texts.c.fetched_at).where(texts.c.repo_id == repo_id, texts.c.name == name)
        row = self._first(query)
        return None if row is None else StoredText(row.text, row.fetched_at)

    def put(self, repo_id: int, name: str, text: str | None, now: float) -> None:
        """Keep a text. NUL characters, which PostgreSQL cannot store, become U+FFFD."""
        values = {"text": None if text is None else text.replace("\0", "\ufffd"), "fetched_at": now}
        self._change(self._upsert(texts, {"repo_id": repo_id, "name": name}, values))

    def drop(self, repo_id: int) -> None:
        """Forget the repository's texts, because a push or a renaming has outdated them."""
        self._change(sa.delete(texts).where(texts.c.repo_id == repo_id))
