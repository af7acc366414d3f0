"""How issues are named in comments without leaving a back-link on them (C3)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from bot.conversation.render.escape import code, escape
from bot.domain.entities import Closer
from bot.domain.report import Candidate, Kind

_PATHS: dict[Kind, str] = {"issue": "issues", "pull request": "pull", "discussion": "discussions"}


@dataclass(frozen=True, slots=True)
class Place:
    """The repository that a comment is written in, as `OWNER/REPO`, and whether its GitHub is an Enterprise Server."""

    repo: str
    enterprise: bool = False

    def issue(self, number: int, repo: str = "") -> str:
        """An issue as a link that GitHub does not take for a reference. `repo` is OWNER/REPO where it lies elsewhere.

        A link to github.com, or the bare number, would be noted in the other issue's timeline. The redirecting host is
        not recognised; Dependabot and Renovate link through it. Enterprise Server has none, so there the number stands
        in a code span, where references are not looked for.
        """
        return self._link(repo, repo or self.repo, "issues", number)

    def discussion(self, number: int) -> str:
        """The same for a discussion."""
        return self._link("", self.repo, _PATHS["discussion"], number)

    def candidate(self, one: Candidate) -> str:
        """The same for a candidate, which may lie in another repository, or be no issue."""
        return self._link(one.repo, one.repo or self.repo, _PATHS[one.kind], one.number)

    def closer(self, closer: Closer) -> str:
        """The same for what closed an issue."""
        if closer.pull:
            return self._link("", self.repo, _PATHS["pull request"], closer.pull)
        named = code(closer.commit[:7])
        # In a code span no commit is looked for, and GitHub notes nothing in what a commit closed.
        address = f"https://redirect.github.com/{quote(self.repo, safe='/')}/commit/{quote(closer.commit)}"
        return named if self.enterprise else f"[{named}]({address})"

    def _link(self, shown: str, repo: str, path: str, number: int) -> str:
        if self.enterprise:
            return code(f"{shown}#{number}")
        return f"[{escape(shown)}#{number}](https://redirect.github.com/{quote(repo, safe='/')}/{path}/{number})"
