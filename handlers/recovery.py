"""Recovers commands and the bot's own comments from GitHub's threads into a store that lacks them (X3).

Workflow runs and the App's first backfill of a repository call this. A workflow loses its store with the cache, and a
repository that moves between workflow and App begins with an empty store. A command counts if the bot has replied to it
and its author still has the necessary access. The store marks it as carried out, so that no late delivery repeats it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property

from bot.conversation.commands.parser import parse
from bot.conversation.commands.table import Command, CommandName, Requirement, allowed
from bot.conversation.comments import hash_texts
from bot.conversation.marker import answered_comment_id
from bot.domain.entities import NOBODY, Actor, Comment, Permission, Repository, name_key, same_login
from bot.domain.errors import GitHubError, Retryable
from bot.domain.feedback import Role, UserVerdict, UserVerdictKind
from bot.github.convert import as_text
from bot.github.repository import RepoClient
from bot.github.search import Thread
from bot.platform.addresses import hosts_of
from handlers.services import Services

logger = logging.getLogger(__name__)

# The key under which the store has the last recovery's time. Also the `delivery` of recovered commands.
_RECOVERY_KEY = "recalled"
# Seconds by which GitHub's search can lag.
_SEARCH_LAG = 120.0


def is_new(services: Services, repo_id: int) -> bool:
    """Whether no recovery from the repository's threads has been completed yet."""
    return services.store.cached_files.get(repo_id, _RECOVERY_KEY) is None


def recover(github: RepoClient, repository: Repository, services: Services) -> bool:
    """Recover from the threads that changed since the last recovery. Returns False if GitHub fails."""
    try:
        _recover(github, repository, services)
    except (GitHubError, Retryable) as failure:
        logger.warning("%s: cannot recover commands and comments from the threads: %s", repository.ref, failure)
        return False
    return True


def _recover(github: RepoClient, repository: Repository, services: Services) -> None:
    now, last = services.now(), services.store.cached_files.get(repository.id, _RECOVERY_KEY)
    since = "" if last is None else as_text(datetime.fromtimestamp(last.fetched_at - _SEARCH_LAG, UTC))
    permissions: dict[str, Permission] = {}
    for thread in github.threads(repository.ref, since):
        if not thread.whole:
            thread = replace(thread, comments=tuple(github.comments(repository.ref, thread.number)))
        _ThreadRecovery(github, repository, services, thread, permissions).recover()
    services.store.cached_files.put(repository.id, _RECOVERY_KEY, "", now)


class _ThreadRecovery:
    """Recovers one thread. `permissions` caches people's access to the repository, by login."""

    def __init__(
        self,
        github: RepoClient,
        repository: Repository,
        services: Services,
        thread: Thread,
        permissions: dict[str, Permission],
    ) -> None:
        self._github = github
        self._repo = repository.ref
        self._issue_key = (repository.id, thread.number)
        self._services = services
        self._store = services.store
        self._thread = thread
        self._permissions = permissions

    def recover(self) -> None:
        """Store the bot's comments that the store lacks, then the commands that these comments answer, in order."""
        absent = {key: own for key, own in self._own.items() if self._store.comments.get(*self._issue_key, key) is None}
        for answered_id, own in absent.items():
            self._store.comments.adopt(*self._issue_key, answered_id, own.id, own.updated_at.timestamp())
        for comment in self._thread.comments:
            if comment.id in absent:
                self._recover_commands(comment)

    @cached_property
    def _own(self) -> dict[int, Comment]:
        """The bot's oldest answer to each comment, by the answered comment's id. The advisory comment has the key 0."""
        newest_first = ((answered_comment_id(comment.body), comment) for comment in reversed(self._thread.comments))
        return {answered: own for answered, own in newest_first if answered is not None and self._is_ours(own.author)}

    def _is_ours(self, author: Actor) -> bool:
        return self._services.comments.ours(author, None) or same_login(author.login, self._services.github.login())

    def _were_carried_out(self, comment: Comment, count: int) -> bool:
        """Whether the commands count as carried out: not if an unedited comment has one command and the bot's 👎.

        A 👎 on several commands does not tell which one failed, and a 👎 on an edited comment may be from before the
        edit. So those commands count. `thumbs` has only the bot's own reactions.
        """
        edited = comment.updated_at > comment.created_at
        return count > 1 or edited or self._thread.thumbs.get(comment.id) != "-1"

    def _recover_commands(self, comment: Comment) -> None:
        app = self._services.github.login().removesuffix("[bot]")
        parsed = parse(comment.body, self._repo, hosts_of(self._services.settings.github_api_url), app)
        said_at, key = as_text(comment.updated_at), (*self._issue_key, comment.id)
        text_hash = hash_texts(said_at, *(command.line for command in parsed))
        if not self._store.handled_commands.begin(*key, said_at=said_at, text_hash=text_hash, delivery=_RECOVERY_KEY):
            return
        for command in parsed if self._were_carried_out(comment, len(parsed)) else ():
            if isinstance(command, Command) and self._is_allowed(command.spec.who, comment):
                self._store_effect(command, comment)
        self._store.handled_commands.end(*key, text_hash=text_hash)

    def _store_effect(self, command: Command, comment: Comment) -> None:
        """Store again what the command stored. The command's changes on GitHub are still there."""
        login, at, number = comment.author.login, comment.created_at.timestamp(), command.number or 0
        if command.name is CommandName.NOT:
            who = Role.TRIAGE if self._may_triage(comment) else Role.AUTHOR
            other = 0 if command.repo else number
            issue = name_key(f"{command.repo}#{number}") if command.repo else ""
            self._add_verdict(other, UserVerdictKind.NOT, comment, {"who": who}, issue)
        elif command.name is CommandName.OF and self._thread.original:
            # The issue's earlier state is lost, so an `undo` will reopen the issue.
            self._add_verdict(self._thread.original, UserVerdictKind.OF, comment, {"was": "open", "label": ""})
        elif command.name is CommandName.MUTE:
            self._store.muted.set(*self._issue_key, login, at)
        elif command.name is CommandName.UNMUTE:
            self._store.muted.clear(*self._issue_key)
        elif command.name is CommandName.UNDO:
            self._undo(comment)

    def _add_verdict(
        self, other: int, kind: UserVerdictKind, comment: Comment, details: dict[str, str], issue: str = ""
    ) -> None:
        self._store.verdicts.add(
            *self._issue_key,
            other,
            kind,
            actor=comment.author.login,
            command_id=comment.id,
            now=comment.created_at.timestamp(),
            details=details,
            issue=issue,
        )

    def _undo(self, comment: Comment) -> None:
        """Undo the last verdict up to this comment: the commenter's own or, with triage access, anybody's."""
        may_triage, at = self._may_triage(comment), comment.created_at.timestamp()
        actor = None if may_triage else comment.author.login
        verdict = self._store.verdicts.last(*self._issue_key, actor, up_to=comment.id)
        if verdict is not None:
            for past in (verdict, *(self._of_same_pair(verdict, comment) if may_triage else ())):
                self._store.verdicts.undo(past.id, comment.id, at)

    def _of_same_pair(self, verdict: UserVerdict, comment: Comment) -> list[UserVerdict]:
        """Everybody's `not` on the verdict's two issues, up to this comment; nothing if the verdict is an `of`."""
        pair = self._store.verdicts.of_pair(self._issue_key[0], verdict.number, verdict.other, verdict.issue)
        return [past for past in pair if verdict.kind is UserVerdictKind.NOT and past.command_id <= comment.id]

    def _permission(self, author: Actor) -> Permission:
        login = name_key(author.login)
        if login not in self._permissions:
            self._permissions[login] = self._github.permission(self._repo, login)
        return self._permissions[login]

    def _is_allowed(self, who: Requirement, comment: Comment) -> bool:
        return allowed(who, self._permission(comment.author), self._is_author(comment))

    def _may_triage(self, comment: Comment) -> bool:
        return self._is_allowed(Requirement.TRIAGE, comment)

    def _is_author(self, comment: Comment) -> bool:
        author = comment.author.login
        # All deleted accounts share one name.
        return author != NOBODY and same_login(author, self._thread.author.login)
