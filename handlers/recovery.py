"""Recovers commands and the bot's own comments from GitHub's threads into a store that lacks them (X3).

A workflow loses its store with the cache, and a repository that moves between workflow and App begins with an empty
one. Commands hold on if the bot has replied to them and their authors may still give them. They count as carried out,
so that no late delivery repeats them.
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
from bot.domain.feedback import Rejection, Role, UserVerdict, UserVerdictKind
from bot.github.repository import RepoClient
from bot.github.search import Thread
from bot.platform.addresses import hosts_of
from handlers.services import Services

logger = logging.getLogger(__name__)

_NOTE = "recalled"
# Seconds that GitHub's search can be late.
_LATE = 120.0


def is_new(services: Services, repo_id: int) -> bool:
    """Whether nothing was recovered from the repository's threads yet."""
    return services.store.cached_files.get(repo_id, _NOTE) is None


def recover(github: RepoClient, repository: Repository, services: Services) -> bool:
    """Read the threads that changed since the last time, or all; False if GitHub fails; nothing else waits for it."""
    try:
        _recover(github, repository, services)
    except (GitHubError, Retryable) as failure:
        logger.warning("%s: what was said in its threads is not known: %s", repository.ref, failure)
        return False
    return True


def _recover(github: RepoClient, repository: Repository, services: Services) -> None:
    now, known = services.now(), services.store.cached_files.get(repository.id, _NOTE)
    since = "" if known is None else _text(datetime.fromtimestamp(known.fetched_at - _LATE, UTC))
    rights: dict[str, Permission] = {}
    for thread in github.threads(repository.ref, since):
        if not thread.whole:
            thread = replace(thread, comments=tuple(github.comments(repository.ref, thread.number)))
        _ThreadRecovery(github, repository, services, thread, rights).learn()
    services.store.cached_files.put(repository.id, _NOTE, "", now)


def _text(moment: datetime) -> str:
    """A time as GitHub writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _ThreadRecovery:
    """One thread. `rights` remembers who may do what in the repository."""

    def __init__(
        self,
        github: RepoClient,
        repository: Repository,
        services: Services,
        thread: Thread,
        rights: dict[str, Permission],
    ) -> None:
        self._github = github
        self._repo = repository.ref
        self._where = (repository.id, thread.number)
        self._services = services
        self._store = services.store
        self._thread = thread
        self._rights = rights

    def learn(self) -> None:
        """Store the bot's comments that are not known, then the commands that they answer, in order."""
        new = {place for place in self._own if self._store.comments.get(*self._where, place) is None}
        for place in new:
            own = self._own[place]
            self._store.comments.adopt(*self._where, place, own.id, own.updated_at.timestamp())
        for comment in self._thread.comments:
            if comment.id in new:
                self._heed(comment)

    @cached_property
    def _own(self) -> dict[int, Comment]:
        """The bot's comments by what they answer."""
        placed = ((answered_comment_id(one.body), one) for one in reversed(self._thread.comments))
        return {place: one for place, one in placed if place is not None and self._is_ours(one.author)}

    def _is_ours(self, author: Actor) -> bool:
        return self._services.comments.ours(author, None) or same_login(author.login, self._services.github.login())

    def _held(self, comment: Comment, commands: int) -> bool:
        """Whether this account carried the commands out: it gives a 👍 then, a 👎 if one of them failed, and neither
        over a limit. Another account's thumbs are not known.
        """
        ours = same_login(self._own[comment.id].author.login, self._services.github.login())
        thumb = self._thread.thumbs.get(comment.id, "+1")
        return not ours or thumb == "+1" or (thumb == "-1" and commands > 1)

    def _heed(self, comment: Comment) -> None:
        app = self._services.github.login().removesuffix("[bot]")
        parsed = parse(comment.body, self._repo, hosts_of(self._services.settings.github_api_url), app)
        said_at, text = _text(comment.updated_at), (*self._where, comment.id)
        hashed = hash_texts(said_at, *(one.line for one in parsed))
        if not self._store.handled_commands.begin(*text, said_at=said_at, text_hash=hashed, delivery=_NOTE):
            return
        for one in parsed if self._held(comment, len(parsed)) else ():
            if isinstance(one, Command) and allowed(
                one.spec.who, self._right(comment.author), self._is_author(comment)
            ):
                self._take(one, comment)
        self._store.handled_commands.end(*text, text_hash=hashed)

    def _take(self, command: Command, comment: Comment) -> None:
        """Store what the command stored then; GitHub has the rest."""
        login, at, number = comment.author.login, comment.created_at.timestamp(), command.number or 0
        if command.name is CommandName.NOT and command.repo:
            issue = name_key(f"{command.repo}#{number}")
            self._store.elsewhere.add(self._where[0], Rejection(self._thread.number, issue, login, at, comment.id))
        elif command.name is CommandName.NOT:
            who = Role.TRIAGE if self._may_triage(comment) else Role.AUTHOR
            self._decide(number, UserVerdictKind.NOT, comment, {"who": who})
        elif command.name is CommandName.OF and self._thread.original:
            self._decide(self._thread.original, UserVerdictKind.OF, comment, {"was": "open", "label": "duplicate"})
        elif command.name is CommandName.MUTE:
            self._store.muted.set(*self._where, login, at)
        elif command.name is CommandName.UNMUTE:
            self._store.muted.clear(*self._where)
        elif command.name is CommandName.UNDO:
            self._undo(comment)

    def _decide(self, other: int, kind: UserVerdictKind, comment: Comment, details: dict[str, str]) -> None:
        self._store.verdicts.add(
            *self._where,
            other,
            kind,
            actor=comment.author.login,
            command_id=comment.id,
            now=comment.created_at.timestamp(),
            details=details,
        )

    def _undo(self, comment: Comment) -> None:
        """Take back the last decision above: one's own or, with triage access, anybody's."""
        everybodys, at = self._may_triage(comment), comment.created_at.timestamp()
        actor = None if everybodys else comment.author.login
        verdict = self._store.verdicts.last(*self._where, actor, up_to=comment.id)
        said = [
            one
            for one in self._store.elsewhere.of_issue(*self._where)
            if one.undone_by is None and one.command_id <= comment.id and actor in (None, one.actor)
        ]
        if said and (verdict is None or said[-1].at >= verdict.at):
            same = [one for one in said if one.issue == said[-1].issue] if everybodys else said[-1:]
            for one in same:
                self._store.elsewhere.undo(self._where[0], one, comment.id, at)
        elif verdict is not None:
            for each in (verdict, *(self._also_said(verdict, comment) if everybodys else ())):
                self._store.verdicts.undo(each.id, comment.id, at)

    def _also_said(self, verdict: UserVerdict, comment: Comment) -> list[UserVerdict]:
        pair = self._store.verdicts.of_pair(self._where[0], verdict.number, verdict.other)
        return [one for one in pair if verdict.kind is UserVerdictKind.NOT and one.command_id <= comment.id]

    def _right(self, author: Actor) -> Permission:
        login = name_key(author.login)
        if login not in self._rights:
            self._rights[login] = self._github.permission(self._repo, login)
        return self._rights[login]

    def _may_triage(self, comment: Comment) -> bool:
        return allowed(Requirement.TRIAGE, self._right(comment.author), self._is_author(comment))

    def _is_author(self, comment: Comment) -> bool:
        author = comment.author.login
        # All deleted accounts share one name.
        return author != NOBODY and same_login(author, self._thread.author.login)
