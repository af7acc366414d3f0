"""Asking what each issue repeats: the same question as for a new issue, about those before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bot.batches import batches
from bot.index import Index
from bot.matching import Matcher, Model
from bot.model import Issue, RepoRef
from bot.scanning.model import Answer, Found

#: Asks about many issues of a backlog, a part at a time.
AskAll = Callable[[Sequence[int]], Iterable[list[Answer]]]

#: Candidates that are kept of an answer, and the least confidence: no threshold can be lower.
MOST, LEAST = 20, 0.05

# Issues that are read from the index at once.
_AT_ONCE = 50
# A question needs an issue; in which repository it lies the index knows by the id.
_ANYWHERE = RepoRef("scan", "scan")


class Asker:
    """Asks about issues of the index. Cheap to build, without state of its own."""

    def __init__(self, index: Index, model: Model) -> None:
        self._index = index
        self._matcher = Matcher(index, model, most=None)
        self._weights = model.digest

    def close(self) -> None:
        """Let go of the index's connections."""
        self._index.close()

    def version(self, repo_id: int) -> str:
        """What judges a repository's issues: answers of another version are outdated."""
        with self._index.view(repo_id) as view:
            return f"{self._weights} {view.model}".rstrip()

    def ask(self, repo_id: int, numbers: Sequence[int]) -> list[Answer]:
        """An answer for each of the issues that are (still) in the index."""
        answers = []
        for part in batches(numbers, _AT_ONCE):
            with self._index.view(repo_id) as view:
                # Before the texts: what changes while they are read makes the answer outdated.
                sequence, version = view.sequence, f"{self._weights} {view.model}".rstrip()
                issues, texts = view.issues(part), view.texts(part)
            for number in part:
                if number in issues and number in texts:
                    target = issues[number]._replace(body=texts[number][1]).issue(_ANYWHERE, "")
                    answers.append(Answer(number, sequence, version, self._found(repo_id, target)))
        return answers

    def _found(self, repo_id: int, target: Issue) -> tuple[Found, ...]:
        with self._matcher.looking(repo_id, target, below=target.number, stored=True) as look:
            found = []
            # Of equally likely ones those just before it, so that copies hang together however many there are.
            matches = sorted(look.judge(), key=lambda match: (-match.confidence, -match.number))
            for match in matches[:MOST]:
                if match.confidence >= LEAST:
                    found.append(Found(match.number, match.confidence, match.evidence.reasons))
            return tuple(found)
