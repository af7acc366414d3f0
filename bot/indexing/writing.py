"""Writes issues into a repository's index, as they are now and with their originals."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence

from bot.embedding import EmbeddingError
from bot.errors import Unavailable
from bot.github.repository.repo import RepoClient
from bot.index import Index, IndexedIssue
from bot.index.issues import UNTOLD
from bot.model import Issue, Repository
from bot.posts.own_issues import is_own_issue
from bot.repositories.issue_forms import IssueForms
from bot.repositories.settings import RepositorySettings
from bot.store import Store
from bot.text.terms import read


class StoredFacts:
    """`bot.index.About`, from the store.

    `remote` says that the model is an endpoint elsewhere; `private_too` that the host lets it see private texts (C6a).
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
        """Whether the model may read a repository: it is on this machine, the repository is public, or host and
        repository agree. An unknown repository counts as private.
        """
        known = self._store.repositories.get(repo_id) if self._remote else None
        if known is None:
            return not self._remote
        return not known.private or (self._private_too and self._settings.last_read(repo_id).remote_text)

    def form_lines(self, repo_id: int) -> Collection[str]:
        """The lines of the forms as last read."""
        return self._forms.last_read(repo_id)


logger = logging.getLogger(__name__)


class Writer:
    """Writes issues into an index and removes them. Thread safe."""

    def __init__(self, index: Index, store: Store) -> None:
        self._index = index
        self._store = store

    def put(self, github: RepoClient, repository: Repository, issues: Sequence[Issue]) -> str:
        """Put issues into the index; returns why they got no vectors, or an empty text."""
        own = self._store.own_issues(repository.id)
        issues = [issue for issue in issues if issue.number not in own and not is_own_issue(issue)]
        if not issues:
            return ""
        originals = self._originals(github, repository, issues)
        self._take_back(repository.id, {issue.number: (issue.title, issue.body) for issue in issues})
        indexed = [IndexedIssue.of(issue, originals.get(issue.number)) for issue in issues]
        try:
            self._index.put(repository.id, indexed)
        except EmbeddingError as failure:
            self._index.put(repository.id, indexed, embed=False)
            return no_vectors(repository, failure)
        return ""

    def remove(self, repo_id: int, number: int) -> None:
        """Remove an issue that no longer exists, and undo the counts of its words."""
        self._take_back(repo_id, {number: ("", "")})
        self._index.remove(repo_id, [number])

    def fill_originals(self, github: RepoClient, repository: Repository, most: int) -> str:
        """Ask for originals that the index does not know, `most` at once; returns the problem, if there is one."""
        asked = self._index.untold(repository.id, most)
        if not asked:
            return ""
        found = self._known_originals(github, repository, asked)
        self._index.tell(repository.id, found)
        if len(found) == len(asked):
            return ""
        return "duplicates: of what some issues are duplicates GitHub does not tell; it is asked again every half hour"

    def _originals(self, github: RepoClient, repository: Repository, issues: Sequence[Issue]) -> dict[int, int | None]:
        """The originals of those that are duplicates, by GitHub or a command; `UNTOLD` if neither knows it."""
        numbers = list(dict.fromkeys(issue.number for issue in issues if issue.state_reason == "duplicate"))
        return dict.fromkeys(numbers, UNTOLD) | self._known_originals(github, repository, numbers)

    def _known_originals(
        self, github: RepoClient, repository: Repository, numbers: Sequence[int]
    ) -> dict[int, int | None]:
        """The same, without unknown ones: GraphQL can fail over one repository for good."""
        try:
            found = dict(github.originals(repository.ref, numbers))
        except Unavailable as failure:
            logger.warning("%s: of what its issues are duplicates is not known: %s", repository.ref, failure)
            found = {}
        for number in numbers:
            if found.get(number) is None and (ours := self._store.verdicts.original(repository.id, number)):
                found[number] = ours
        return found

    def _take_back(self, repo_id: int, texts: Mapping[int, tuple[str, str]]) -> None:
        """Undo the counts of issues whose words these new `texts` change, while the index has the old ones."""
        with self._index.view(repo_id) as view:
            stored = view.texts(texts)
        before = {number: read(*text).counted() for number, text in stored.items()}
        changed = {number: words for number, words in before.items() if words != read(*texts[number]).counted()}
        if changed:
            self._store.words.remove(repo_id, changed)


def no_vectors(repository: Repository, failure: EmbeddingError) -> str:
    """Why there are no vectors, for the progress, which the dashboard shows to people who do not run the host."""
    if failure.told != str(failure):
        logger.warning("%s: %s", repository.ref, failure)
    return f"vectors: {failure.told}"
