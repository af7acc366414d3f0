"""How issues are named in comments without leaving a back-link on them (C3)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Place:
    """The repository that a comment is written in, as `OWNER/REPO`, and whether its GitHub is an Enterprise Server."""

    repo: str
    enterprise: bool = False

    def issue(self, number: int) -> str:
        """An issue as a link that GitHub does not take for a reference.

        A link to github.com, or the bare number, would be noted in the other issue's timeline. The redirecting host is
        not recognised; Dependabot and Renovate link through it. Enterprise Server has none, so there the number stands
        in a code span, where references are not looked for.
        """
        if self.enterprise:
            return f"`#{number}`"
        return f"[#{number}](https://redirect.github.com/{quote(self.repo, safe='/')}/issues/{number})"
