"""A made-up repository to look in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.domain.entities import Actor, Issue, RepoRef
from bot.domain.report import ReasonCode
from bot.search.index import Index, IndexedIssue
from bot.search.matching import Match

REPO = RepoRef("larkspool", "larkspool")
START = datetime(2024, 1, 1, tzinfo=UTC)
SUBJECTS = (
    ("Upload fails with LS-2014", "The log says: ERROR upload could not store asset: database is locked"),
    ("Map stays grey", "Only markers are shown, tile requests are answered with 403"),
    ("Portrait videos lie on their side", "Thumbnails are right, but the player ignores the rotation"),
    ("Disks never go to sleep", "spoold writes a few bytes to /data/cache every half minute"),
    ("Translations into Basque", "I could help with the strings of the web interface"),
    ("Faces of pets", "Group pictures of cats and dogs as those of people are grouped"),
)


def an_issue(number: int, title: str, body: str = "", *, author: str = "", days: float = 0.0) -> Issue:
    at = START + timedelta(days=days or number)
    who = Actor(author or f"user{number}")
    return Issue(REPO, number, "", number, title, body, "open", None, who, (), at, at, None, "")


def fill(index: Index, *more: Issue) -> None:
    issues = [an_issue(number, title, body) for number, (title, body) in enumerate(SUBJECTS, 1)]
    index.put(1, [IndexedIssue.of(issue) for issue in (*issues, *more)])


def shared_by(match: Match) -> dict[ReasonCode, tuple[str, ...]]:
    """What a candidate shares with the question, by its kind."""
    return {reason.code: reason.quoted for reason in match.explain()}
