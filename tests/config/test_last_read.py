"""Which settings are answered from what was last read of their files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.config import CONFIG_PATH
from bot.errors import Unavailable
from bot.model import RepoRef, Repository
from bot.repositories.settings import RepositorySettings
from bot.settings import load
from bot.store import open_store

HERE = Repository(7, RepoRef("acme", "app"), private=False)


class _Files:
    """No file of the repository's own, and one of its owner's, which GitHub at first cannot read."""

    def __init__(self) -> None:
        self.well = False

    def file(self, repo: RepoRef, path: str) -> str | None:
        assert path == CONFIG_PATH
        if repo == HERE.ref:
            return None
        if not self.well:
            raise Unavailable("GitHub answered 502")
        return "mode: off\n"

    def repository(self, repo: RepoRef) -> Repository:
        return Repository(8, repo, private=False)


def test_c6_the_owners_settings_that_could_not_be_read_are_asked_for_again_and_not_taken_for_none(
    tmp_path: Path,
) -> None:
    files = _Files()
    store = open_store(load({"DOPPEL_HOME": str(tmp_path)}, tmp_path / ".env"))
    try:
        settings = RepositorySettings(store, lambda: datetime.now(UTC))
        with pytest.raises(Unavailable):
            settings.read(lambda _: files, HERE)
        files.well = True
        assert settings.last_or_present(lambda _: files, HERE).mode == "off"
        files.well = False
        assert settings.last_or_present(lambda _: files, HERE).mode == "off", "which is remembered"
        assert settings.last_read(HERE.id).mode == "off"
    finally:
        store.close()
