"""The features, and the one table that says which event each of them handles and what it needs from GitHub (C1).

`app.yml` is tested against this table. Importing it registers nothing: the composition root hands it to the router.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.deliveries.events import DEFERRED, INDEXED, JUDGED, OVERTAKEN
from handlers import background as evaluating
from handlers import background as indexing
from handlers import background as scanning
from handlers import issues
from handlers import repositories as access
from handlers.commands import decisions as verdicts
from handlers.commands import dispatch as obeying
from handlers.router import Level, Route

# Reading metadata is granted to every App; membership and permissions of people are part of it.
_METADATA: Mapping[str, Level] = {"metadata": "read"}
# Every answer depends on the settings file and, where there are any, the issue forms.
_ANSWERING: Mapping[str, Level] = {"issues": "write", "contents": "read", "metadata": "read"}
_READING_ISSUES: Mapping[str, Level] = {"issues": "read", "metadata": "read"}
_FILES: Mapping[str, Level] = {"contents": "read", "metadata": "read"}

ROUTES: tuple[Route, ...] = (
    Route("issues", ("opened", "edited", "reopened", DEFERRED), issues.look, _ANSWERING),
    Route("issues", ("labeled", "unlabeled"), issues.labels_changed, _ANSWERING),
    Route("issues", ("closed",), issues.closed, _READING_ISSUES),
    Route("issues", ("deleted", "transferred"), issues.gone, _READING_ISSUES),
    Route("issues", ("unlocked",), issues.unlocked, _ANSWERING),
    Route("issues", (JUDGED,), verdicts.judged, _ANSWERING),
    Route("issues", (OVERTAKEN, INDEXED), issues.look_again, _ANSWERING),
    Route("issue_comment", ("created", "edited"), obeying.obey, _ANSWERING),
    Route("issue_comment", ("deleted",), issues.comment_deleted, _READING_ISSUES),
    Route("installation", ("created", "unsuspend", "new_permissions_accepted"), access.granted),
    Route("installation", ("suspend",), access.suspended),
    Route("installation", ("deleted",), access.ended),
    Route("installation_repositories", ("added", "removed"), access.list_changed),
    Route(
        "repository",
        ("renamed", "transferred", "privatized", "publicized", "archived", "unarchived"),
        access.repository_changed,
        _METADATA,
    ),
    Route("repository", ("deleted",), access.repository_deleted, _METADATA),
    Route("push", ("",), access.pushed, _FILES),
    # No event of GitHub's: `bot.search.indexing` queues it.
    Route("index", ("",), indexing.read_on, {**_READING_ISSUES, **_FILES}),
    # Nor this one: `/duplicates scan` does.
    Route("scan", ("",), scanning.go_on, _ANSWERING),
    # Nor this: the dashboard does.
    Route("evaluation", ("",), evaluating.run, {**_READING_ISSUES, **_FILES}),
)
