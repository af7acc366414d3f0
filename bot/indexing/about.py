"""What the index is told about the repositories that the bot works in, from what the store remembers of them."""

from __future__ import annotations

from collections.abc import Collection

from bot.repositories.issue_forms import IssueForms
from bot.repositories.settings import RepositorySettings
from bot.store import Store


class StoredFacts:
    """See `bot.index.About`.

    `remote` says whether the model is an endpoint elsewhere; `private_too` is the host's word on private texts (C6a).
    """

    def __init__(
        self, store: Store, settings: RepositorySettings, forms: IssueForms, *, remote: bool, private_too: bool
    ) -> None:
        self._store = store
        self._settings = settings
        self._forms = forms
        self._remote = remote
        self._private_too = private_too

    def may_embed(self, repo_id: int) -> bool:
        """A model on this machine may read everything. What leaves it is public, or both host and repository agree.

        A repository of which nothing is known counts as private, and one whose settings were not read as silent.
        """
        if not self._remote:
            return True
        known = self._store.repositories.get(repo_id)
        if known is None:
            return False
        return not known.private or (self._private_too and self._settings.last_read(repo_id).remote_text)

    def form_lines(self, repo_id: int) -> Collection[str]:
        """The lines of the forms as they were last read."""
        return self._forms.last_read(repo_id)
