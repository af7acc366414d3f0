"""The tools' work, without the protocol.

Every call goes through the tracker (T5). If a session repeats a call within minutes, the answer comes from memory and
says so. Writes are never remembered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeVar

from bot.domain.entities import NOBODY, NUMBER_MAX, Actor, Issue, RepoRef
from bot.domain.errors import InvalidArgument, UserError
from bot.domain.report import SearchOutcome
from bot.github.repository import RepoClient
from bot.interfaces.agents.deduplication import account, deduplicate
from bot.interfaces.agents.playbook import MalformedPlaybook, apply
from bot.interfaces.agents.run import SECTION_SLUGS
from bot.interfaces.mcp.results import (
    BacklogAnswer,
    Closed,
    Comparison,
    DedupedPlaybook,
    FindAnswer,
    MergeResult,
    ToolAnswer,
)
from bot.platform.call_rules import ToolRule, equal, never
from bot.platform.call_tracker import ToolCallTracker
from bot.quality.known_issues import KnownRepository
from bot.quality.scanning.scan import MatchMany, Scan
from bot.search.finder import FindOptions

A = TypeVar("A", bound=ToolAnswer)


class OpenKnown(Protocol):
    """Opens an issue's repository, which the client can read, for searching.

    `issues` is the repository's number of issues, used if this host has not counted them.
    """

    def __call__(
        self, client: RepoClient, target: Issue, *, issues: int | None = None, judge: bool = False
    ) -> AbstractContextManager[KnownRepository]: ...


READING = ("find_duplicates", "check_draft", "explain_pair", "scan_backlog", "dedupe_playbook")
# The arguments that name issues: an answer is valid until one of the issues changes (T6).
_ISSUES = ("number", "other")
WRITING = ("close_as_duplicate",)

# A draft's author is unknown.
_UNKNOWN = Actor(NOBODY)
_ANSWERED = (SearchOutcome.FOUND, SearchOutcome.NONE)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks about which repository; the default repository fills in a missing `owner` or `repo`.

    `session` identifies the caller. If it is None, nothing is remembered. `fresh` skips the memory.
    """

    session: str | None
    owner: str | None = None
    repo: str | None = None
    fresh: bool = False


class Tools:
    """`open_repo` makes a client that can read a repository; `default` is the repository for calls that name none.

    `open_known` opens a repository with its settings and index; without a complete index, GitHub's searches are used.
    `open_scan` takes a repository's id and whether to include closed issues. It gives the scan, a function that matches
    issues, and the repository's threshold for "likely"; None without a complete index. `open_known` and `open_scan` run
    only after GitHub has let the caller read the repository.
    """

    def __init__(
        self,
        open_repo: Callable[[RepoRef], RepoClient],
        *,
        open_known: OpenKnown,
        open_scan: Callable[[int, bool], AbstractContextManager[tuple[Scan, MatchMany, float] | None]],
        tracker: ToolCallTracker,
        clock: Callable[[], datetime],
        default: RepoRef | None,
    ) -> None:
        self._open_repo = open_repo
        self._open_known = open_known
        self._open_scan = open_scan
        self._tracker = tracker
        self._clock = clock
        self._default = default
        for name in READING:
            # T5: the default rule would mix up two issues.
            tracker.add_rule(name, ToolRule(equal, unchanged=self._changed))
        for name in WRITING:
            tracker.add_rule(name, never)

    def find_duplicates(self, caller: Caller, number: int, options: FindOptions, *, judge: bool = False) -> FindAnswer:
        """SPEC F for an existing issue; with `judge`, the host's judge reads the candidates."""
        place = self._place(caller)

        def ask() -> FindAnswer:
            client = self._client(place, caller)
            target = client.issue(place, number)
            with self._open_known(client, target, judge=judge) as known:
                return _found(known, target, options)

        arguments = {"repo": place.key, "number": number, "options": options, "judge": judge}
        return self._remembered(caller, "find_duplicates", arguments, ask, keep=_is_whole)

    def check_draft(self, caller: Caller, title: str, body: str, options: FindOptions) -> FindAnswer:
        """SPEC F for a draft, which is treated as an issue filed now."""
        place = self._place(caller)
        if not title.strip():
            raise InvalidArgument("title", "is empty")

        def ask() -> FindAnswer:
            client = self._client(place, caller)
            # The ranking needs the number of issues. This request also fails if there is no such repository.
            latest = next(iter(client.recent_issues(place, 1)), None)
            draft = _draft(place, latest, title, body, self._clock())
            with self._open_known(client, draft, issues=latest.number if latest else 0) as known:
                return _found(known, draft, options, draft=True)

        arguments = {"repo": place.key, "title": title, "body": body, "options": options}
        return self._remembered(caller, "check_draft", arguments, ask, keep=_is_whole)

    def explain_pair(self, caller: Caller, number: int, other: int) -> Comparison:
        """How likely two issues of a repository are the same, and the reasons."""
        place = self._place(caller)
        if number == other:
            raise InvalidArgument("other", "is the issue itself")

        def ask() -> Comparison:
            client = self._client(place, caller)
            target, candidate = client.issue(place, number), client.issue(place, other)
            with self._open_known(client, target) as known:
                judged = known.finder.compare(target, candidate)
                (text,) = known.finder.own_texts(target, [judged], [candidate])
                return Comparison.of(target, judged, known.settings.config.likely, text)

        arguments = {"repo": place.key, "number": number, "other": other}
        return self._remembered(caller, "explain_pair", arguments, ask)

    def scan_backlog(
        self,
        caller: Caller,
        *,
        include_closed: bool,
        min_confidence: float,
        limit: int,
        tell: Callable[[int, int], Any] = lambda done, total: None,
    ) -> BacklogAnswer:
        """D8: the first `limit` groups of a repository's backlog, according to this host's index.

        An interrupted scan is resumed. `tell` is called with the number of issues done and the total. Raises UserError
        without a complete index.
        """
        place = self._place(caller)

        def ask() -> BacklogAnswer:
            client = self._client(place, caller)
            repository = client.repository(place)
            with self._open_scan(repository.id, include_closed) as opened:
                if opened is None:
                    raise UserError(
                        f"{place}: this host has no complete index of it. `doppel scan {place}`, run on this host, "
                        "fills it; so does the bot where it is installed. `doppel index` shows how far it is."
                    )
                scan, ask_all, likely = opened
                scan.begin()
                missing, done = scan.missing(), 0
                for answers in ask_all(missing) if missing else ():
                    scan.keep(answers)
                    done += len(answers)
                    tell(done, len(missing))
                if missing:
                    scan.ask_again()
                scan.count_reactions(partial(client.reactions, repository.ref), min_confidence)
                return BacklogAnswer.of(str(repository.ref), scan.result(min_confidence), limit, likely)

        arguments = {
            "repo": place.key,
            "include_closed": include_closed,
            "min_confidence": min_confidence,
            "limit": limit,
        }
        return self._remembered(caller, "scan_backlog", arguments, ask)

    def dedupe_playbook(
        self, caller: Caller, playbook: dict[str, Any], min_similarity: float | None
    ) -> DedupedPlaybook:
        """SPEC D, with a list of the merges. A malformed playbook is an error here, since an agent can correct it."""

        def merge() -> DedupedPlaybook:
            try:
                found = deduplicate(playbook, min_similarity, slugs=SECTION_SLUGS)
            except MalformedPlaybook as problem:
                raise InvalidArgument("playbook", str(problem)) from None
            merges = [MergeResult.of(one) for one in account(found)]
            apply(playbook, found.entries, found.groups)
            return DedupedPlaybook(
                playbook=playbook,
                merges=merges,
                entries_before=len(found.entries),
                entries_after=len(found.groups),
                model=found.model,
                min_similarity=found.threshold,
            )

        # Compare playbooks as text: the order of the sections matters, since it decides which entry survives.
        arguments = {"playbook": json.dumps(playbook), "min_similarity": min_similarity}
        return self._remembered(caller, "dedupe_playbook", arguments, merge)

    def close_as_duplicate(self, caller: Caller, number: int, original: int) -> Closed:
        """Close an issue as a duplicate of an older one, as `/duplicates of` does.

        Raises InvalidArgument if the original is newer, closed or the issue itself. The session's memory is cleared,
        since remembered answers may call the issue open.
        """
        place = self._place(caller)
        if number == original:
            raise InvalidArgument("original", "is the issue itself")
        client = self._open_repo(place)
        issue, remaining = client.issue(place, number), client.issue(place, original)
        if issue.is_pull_request or remaining.is_pull_request:
            raise InvalidArgument("number" if issue.is_pull_request else "original", "is a pull request")
        if (remaining.created_at, remaining.number) > (issue.created_at, issue.number):
            raise InvalidArgument("original", f"#{original} is newer than #{number}; close that one instead")
        if remaining.state == "closed":
            further = client.duplicate_of(place, original)
            hint = f"; it is a duplicate of {further}" if further else ""
            raise InvalidArgument("original", f"#{original} is closed{hint}")
        closed = client.close_as_duplicate(place, number, remaining.id)
        if caller.session is not None:
            self._tracker.clear_session(caller.session)
            client.forget_thread(_reading(caller.session))
        return Closed(number=number, original=original, url=closed.url)

    def _place(self, caller: Caller) -> RepoRef:
        """F1: the caller's repository, else the default; `repo` may be OWNER/REPO."""
        owner, repo = caller.owner, caller.repo
        if repo and "/" in repo and not owner:
            return RepoRef.parse(repo)
        owner = owner or (self._default.owner if self._default else None)
        repo = repo or (self._default.name if self._default else None)
        if not owner or not repo:
            raise InvalidArgument("repo" if owner else "owner", "is missing, and the server has no default repository")
        return RepoRef.of(owner, repo)

    def _client(self, place: RepoRef, caller: Caller) -> RepoClient:
        """A client that remembers the session's reads, so that a second question costs fewer requests."""
        client = self._open_repo(place)
        return client if caller.session is None else client.thread(_reading(caller.session), fresh=caller.fresh)

    def _changed(self, arguments: Mapping[str, Any]) -> object:
        """When the issues of a call were last changed. Each issue costs a conditional request."""
        place, numbers = arguments.get("repo", ""), [arguments[name] for name in _ISSUES if name in arguments]
        if not numbers:
            return None
        ref = RepoRef.parse(place)
        client = self._open_repo(ref)
        return tuple(client.issue(ref, number).updated_at for number in numbers)

    def _remembered(
        self,
        caller: Caller,
        tool: str,
        arguments: Mapping[str, Any],
        run: Callable[[], A],
        keep: Callable[[A], bool] | None = None,
    ) -> A:
        if caller.session is None:
            return run()
        call = self._tracker.call(caller.session, tool, arguments, run, fresh=caller.fresh, keep=keep)
        return call.result.model_copy(update={"cached": call.cached, "note": call.note})


def _found(known: KnownRepository, target: Issue, options: FindOptions, *, draft: bool = False) -> FindAnswer:
    """Search once, for the caller's options and for a preview of the bot's comment (P6)."""
    gathered = known.finder.gather(target, state=options.state)
    report = known.finder.find(target, known.options_for(target, options), gathered)
    texts = known.finder.own_texts(target, report.candidates, [hit.issue for hit in gathered.hits])
    return FindAnswer.of(report, target, known.comment_preview(target, gathered), texts, draft=draft)


def _reading(session: str) -> str:
    """The thread under which the client remembers a session's reads."""
    return f"mcp {session}"


def _is_whole(findings: FindAnswer) -> bool:
    """Whether to remember an answer: after an incomplete search, the next one may find more."""
    return findings.outcome in _ANSWERED


def _draft(place: RepoRef, latest: Issue | None, title: str, body: str, now: datetime) -> Issue:
    """The draft as an issue filed now. Its address is derived from the `latest` issue's.

    The draft gets a number that no issue has: the next number may already belong to a pull request or a newer issue.
    """
    return Issue(
        repo=place,
        id=0,
        node_id="",
        number=NUMBER_MAX,
        title=title,
        body=body,
        state="open",
        state_reason=None,
        author=_UNKNOWN,
        labels=(),
        created_at=now,
        updated_at=now,
        closed_at=None,
        url=f"{latest.url.rsplit('/', 2)[0]}/issues/{NUMBER_MAX}" if latest else "",
    )
