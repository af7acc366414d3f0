"""The bot's features, and the table of routes: which function handles which event with which permissions (C1).

`bot.app` passes the table to the router, and a test compares it with `app.yml`. The bot itself queues
the actions that are constants, such as DEFERRED. The action "" stands for an event without actions.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.deliveries.events import DEFERRED, INDEXED, JUDGED, OVERTAKEN
from handlers import background, installations, issues, repositories
from handlers.commands import decisions, dispatch
from handlers.router import Level, Route

# GitHub grants every App this permission. It covers people's memberships and access rights.
_METADATA: Mapping[str, Level] = {"metadata": "read"}
# The bot reads the settings file and the issue forms with `contents`.
_ANSWERING: Mapping[str, Level] = {"issues": "write", "contents": "read", "metadata": "read"}
_READING_ISSUES: Mapping[str, Level] = {"issues": "read", "metadata": "read"}
_FILES: Mapping[str, Level] = {"contents": "read", "metadata": "read"}

ROUTES: tuple[Route, ...] = (
    Route("issues", ("opened", "edited", "reopened", DEFERRED), issues.issue_opened_or_edited, _ANSWERING),
    Route("issues", ("labeled", "unlabeled"), issues.issue_labels_changed, _ANSWERING),
    Route("issues", ("closed",), issues.issue_closed, _READING_ISSUES),
    Route("issues", ("deleted", "transferred"), issues.issue_removed, _READING_ISSUES),
    Route("issues", ("unlocked",), issues.issue_unlocked, _ANSWERING),
    Route("issues", (JUDGED,), decisions.pair_judged, _ANSWERING),
    Route("issues", (OVERTAKEN, INDEXED), issues.issue_indexed, _ANSWERING),
    Route("issue_comment", ("created", "edited"), dispatch.comment_written, _ANSWERING),
    Route("issue_comment", ("deleted",), issues.comment_deleted, _READING_ISSUES),
    Route(
        "installation",
        ("created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"),
        installations.installation_changed,
    ),
    Route("installation_repositories", ("added", "removed"), installations.installation_changed),
    Route(
        "repository",
        ("renamed", "transferred", "privatized", "publicized", "archived", "unarchived"),
        repositories.repository_changed,
        _METADATA,
    ),
    Route("repository", ("deleted",), repositories.repository_deleted, _METADATA),
    Route("push", ("",), repositories.pushed, _FILES),
    # GitHub does not send the events below: the bot, its command line and its dashboard queue them.
    Route("index", ("",), background.index_step, {**_READING_ISSUES, **_FILES}),
    Route("scan", ("",), background.scan_step, _ANSWERING),
    Route("evaluation", ("",), background.evaluation_requested, {**_READING_ISSUES, **_FILES}),
)
