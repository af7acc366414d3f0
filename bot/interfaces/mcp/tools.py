"""The tools: each checks its arguments, asks GitHub, the finder or the scan, and returns an answer from `results.py`.

If a session repeats a READING call within minutes, the tracker answers from its cache (T5), and the answer says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, TypeVar

from anyio import from_thread
from mcp.server.mcpserver import Context
from pydantic import Field

from bot.conversation.config.schema import ASKED_MOST
from bot.domain.entities import BODY_MAX, Issue, RepoRef, StateFilter
from bot.domain.errors import InvalidArgument, UserError
from bot.domain.report import SearchOutcome
from bot.github.repository import RepoClient
from bot.interfaces.agents.deduplication import deduplicate, describe_merges
from bot.interfaces.agents.playbook import MalformedPlaybook, apply
from bot.interfaces.agents.run import SECTION_SLUGS
from bot.interfaces.mcp.arguments import (
    Fresh,
    IncludeClosed,
    Judge,
    MaxCandidates,
    MinConfidence,
    Number,
    Numeric,
    Owner,
    Relevance,
    Repo,
    Sources,
    Threshold,
    draft_issue,
    session_of,
)
from bot.interfaces.mcp.results import (
    BacklogAnswer,
    Closed,
    Comparison,
    DedupedPlaybook,
    FindAnswer,
    MergeResult,
    ToolAnswer,
)
from bot.platform.call_rules import ToolRule, equal
from bot.platform.call_tracker import ToolCallTracker
from bot.quality.known_repository import KnownRepository
from bot.quality.scanning.groups import THRESHOLD
from bot.quality.scanning.scan import LEAST, MatchMany, Scan
from bot.search.finder import FindOptions

A = TypeVar("A", bound=ToolAnswer)

READING = ("find_duplicates", "check_draft", "explain_pair", "scan_backlog", "dedupe_playbook")
"""The tools that write nothing."""


@dataclass(frozen=True, slots=True)
class Call:
    """Who asks about which repository. Without a `session`, the tracker caches nothing. `fresh` skips the cache."""

    session: str | None
    repo: RepoRef
    fresh: bool


@dataclass(frozen=True, slots=True)
class Tools:
    """Each public method is a tool, with its docstring as description.

    `open_repo` makes a client that can read a repository; `default` is the repository for calls that name none.
    `open_known` opens a repository for searches: in its index, or else on GitHub. The argument `issues` is an estimate
    of the number of issues, for a host that has not counted the issues. `open_scan` takes a repository's id and whether
    to include closed issues. `open_scan` gives the scan, the function that finds matches, and the setting `likely`; or
    None without a complete index. Call either only after GitHub has let the caller read the repository.
    """

    open_repo: Callable[[RepoRef], RepoClient]
    open_known: Callable[..., AbstractContextManager[KnownRepository]]
    open_scan: Callable[[int, bool], AbstractContextManager[tuple[Scan, MatchMany, float] | None]]
    tracker: ToolCallTracker
    clock: Callable[[], datetime]
    default: RepoRef | None

    def __post_init__(self) -> None:
        for name in READING:
            # T5: the default rule ignores some differences, so calls about two different issues could count as equal.
            self.tracker.add_rule(name, ToolRule(equal, unchanged=self._last_changes))

    def find_duplicates(
        self,
        context: Context[str, Any],
        number: Number,
        owner: Owner = None,
        repo: Repo = None,
        threshold: Threshold = 0.3,
        min_confidence: MinConfidence = 0.0,
        max_candidates: MaxCandidates = 10,
        include_closed: IncludeClosed = False,
        relevance: Relevance = "learned",
        sources: Sources = (),
        fresh: Fresh = False,
        judge: Judge = False,
    ) -> FindAnswer:
        """Find other reports of the same thing as an existing issue, earlier and later, likeliest first.

        By default lists only open ones with similar titles. The bot uses threshold=0 and include_closed=true.
        """
        call = self._call(context, owner, repo, fresh)
        state: StateFilter = "all" if include_closed else "open"
        options = FindOptions(threshold, max_candidates, relevance, min_confidence, state, sources=sources)

        def ask() -> FindAnswer:
            client = self._client(call)
            target = client.issue(call.repo, number)
            with self.open_known(client, target, judge=judge) as known:
                return _found(known, target, options)

        arguments = {"repo": call.repo.key, "number": number, "options": options, "judge": judge}
        return self._remembered(call.session, "find_duplicates", arguments, ask, fresh=fresh, keep=_is_whole)

    def check_draft(
        self,
        context: Context[str, Any],
        title: Annotated[str, Field(description="As it would be filed.", min_length=1, max_length=1000)],
        body: Annotated[str, Field(description="Error messages help most.", max_length=BODY_MAX)] = "",
        owner: Owner = None,
        repo: Repo = None,
        threshold: Threshold = 0.0,
        min_confidence: MinConfidence = 0.0,
        max_candidates: MaxCandidates = ASKED_MOST,
        include_closed: IncludeClosed = True,
        fresh: Fresh = False,
    ) -> FindAnswer:
        """Before filing an issue, find those that report the same thing already, open or closed.

        Lists the closest, however unlikely. If an open one is the same, add to it instead. Nothing is written.
        """
        call = self._call(context, owner, repo, fresh)
        if not title.strip():
            raise InvalidArgument("title", "is empty")
        state: StateFilter = "all" if include_closed else "open"
        options = FindOptions(threshold, max_candidates, min_confidence=min_confidence, state=state)

        def ask() -> FindAnswer:
            client = self._client(call)
            # The latest issue's number is close to the number of issues. For an unknown repository, this request fails.
            latest = next(iter(client.recent_issues(call.repo, 1)), None)
            draft = draft_issue(call.repo, latest, title, body, self.clock())
            with self.open_known(client, draft, issues=latest.number if latest else 0) as known:
                return _found(known, draft, options, draft=True)

        arguments = {"repo": call.repo.key, "title": title, "body": body, "options": options}
        return self._remembered(call.session, "check_draft", arguments, ask, fresh=fresh, keep=_is_whole)

    def explain_pair(
        self,
        context: Context[str, Any],
        number: Number,
        other: Number,
        owner: Owner = None,
        repo: Repo = None,
        fresh: Fresh = False,
    ) -> Comparison:
        """Compare any two issues of one repository, even a pair that no search finds.
        Say how likely both report the same thing, and what speaks for it."""
        call = self._call(context, owner, repo, fresh)
        if number == other:
            raise InvalidArgument("other", "is the issue itself")

        def ask() -> Comparison:
            client = self._client(call)
            target, candidate = client.issue(call.repo, number), client.issue(call.repo, other)
            with self.open_known(client, target) as known:
                compared = known.finder.compare(target, candidate)
                (author_text,) = known.finder.own_texts(target, [compared], [candidate])
                return Comparison.of(target, compared, known.settings.config.likely, author_text)

        arguments = {"repo": call.repo.key, "number": number, "other": other}
        return self._remembered(call.session, "explain_pair", arguments, ask, fresh=fresh)

    def scan_backlog(
        self,
        context: Context[str, Any],
        owner: Owner = None,
        repo: Repo = None,
        include_closed: Annotated[bool, Field(description="Closed ones too.")] = False,
        min_confidence: Annotated[
            float, Field(description="Least confidence of each pair.", ge=LEAST, le=1), Numeric
        ] = THRESHOLD,
        limit: Annotated[int, Field(description="The most groups.", ge=1, le=100), Numeric] = 20,
        fresh: Fresh = False,
    ) -> BacklogAnswer:
        """Look through a repository's open issues for groups that may report the same thing.

        A group's oldest is proposed as the original. min_confidence=0.05 adds groups, including wrong ones. Have a
        person or explain_pair confirm a pair before you act. Needs this host's index; a first scan can take minutes.
        """
        call = self._call(context, owner, repo, fresh)

        def ask() -> BacklogAnswer:
            client = self._client(call)
            repository = client.repository(call.repo)
            with self.open_scan(repository.id, include_closed) as opened:
                if opened is None:
                    raise UserError(
                        f"{call.repo}: this host has no complete index of it. `doppel scan {call.repo}`, run on "
                        "this host, fills it; so does the bot where it is installed. `doppel index` shows how far."
                    )
                scan, match_many, likely = opened
                scan.begin()
                missing, done = scan.missing(), 0
                batches = match_many(missing) if missing else ()
                for answers in batches:
                    scan.put(answers)
                    done += len(answers)
                    # The tool runs in a thread, but progress must be sent from the event loop.
                    told = f"{done} of {len(missing)} issues compared"
                    from_thread.run(context.report_progress, done, len(missing), told)
                scan.count_reactions(partial(client.reactions, repository.ref), min_confidence)
                return BacklogAnswer.of(str(repository.ref), scan.result(min_confidence), limit, likely)

        which = {"include_closed": include_closed, "min_confidence": min_confidence, "limit": limit}
        arguments = {"repo": call.repo.key, **which}
        return self._remembered(call.session, "scan_backlog", arguments, ask, fresh=fresh)

    def dedupe_playbook(
        self,
        context: Context[str, Any],
        playbook: Annotated[
            dict[str, Any],
            Field(description="{version, last_updated, sections: {SECTION: [{name, text, helpful, harmful}]}}"),
        ],
        min_similarity: Annotated[
            float | None, Field(description="Least cosine. Default: the model's."), Numeric
        ] = None,
    ) -> DedupedPlaybook:
        """Merge the entries of a playbook whose texts say the same, across its sections.

        The first keeps name, text and section and gets the sums of the counters. Nothing is stored.
        """

        def merge() -> DedupedPlaybook:
            try:
                found = deduplicate(playbook, min_similarity, slugs=SECTION_SLUGS)
            except MalformedPlaybook as problem:
                raise InvalidArgument("playbook", str(problem)) from None
            merges = [MergeResult.of(one) for one in describe_merges(found)]
            apply(playbook, found.entries, found.groups)
            return DedupedPlaybook(
                playbook=playbook,
                merges=merges,
                entries_before=len(found.entries),
                entries_after=len(found.groups),
                model=found.model,
                min_similarity=found.threshold,
            )

        # Compare playbooks as text: the order of the sections matters, since it can decide which entry survives.
        arguments = {"playbook": json.dumps(playbook), "min_similarity": min_similarity}
        return self._remembered(session_of(context), "dedupe_playbook", arguments, merge)

    def close_as_duplicate(
        self,
        context: Context[str, Any],
        number: Number,
        original: Annotated[int, Field(description="The older, open one that stays.", ge=1), Numeric],
        owner: Owner = None,
        repo: Repo = None,
    ) -> Closed:
        """Close an issue on GitHub as a duplicate of an older open one. This changes the repository.

        Only on a person's explicit wish: a confidence alone is no reason to close anything.
        """
        call = self._call(context, owner, repo, fresh=True)
        ref = call.repo
        if number == original:
            raise InvalidArgument("original", "is the issue itself")
        client = self.open_repo(ref)
        issue, remaining = client.issue(ref, number), client.issue(ref, original)
        if issue.is_pull_request or remaining.is_pull_request:
            raise InvalidArgument("number" if issue.is_pull_request else "original", "is a pull request")
        if (remaining.created_at, remaining.number) > (issue.created_at, issue.number):
            raise InvalidArgument("original", f"#{original} is newer than #{number}; close that one instead")
        if remaining.state == "closed":
            further = client.duplicate_of(ref, original)
            hint = f"; it is a duplicate of {further}" if further else ""
            raise InvalidArgument("original", f"#{original} is closed{hint}")
        closed = client.close_as_duplicate(ref, number, remaining.id)
        if call.session is not None:
            self.tracker.clear_session(call.session)
            client.forget_thread(_cache_key(call.session))
        return Closed(number=number, original=original, url=closed.url)

    def _call(self, context: Context[str, Any], owner: str | None, repo: str | None, fresh: bool) -> Call:
        """The call, about the named repository or else the default one (F1). `repo` may be OWNER/REPO."""
        if repo and "/" in repo and not owner:
            return Call(session_of(context), RepoRef.parse(repo), fresh)
        owner = owner or (self.default.owner if self.default else None)
        repo = repo or (self.default.name if self.default else None)
        if not owner or not repo:
            raise InvalidArgument("repo" if owner else "owner", "is missing, and the server has no default repository")
        return Call(session_of(context), RepoRef.of(owner, repo), fresh)

    def _client(self, call: Call) -> RepoClient:
        """A client that remembers the session's reads, so that the session's next call costs fewer requests."""
        client = self.open_repo(call.repo)
        return client if call.session is None else client.thread(_cache_key(call.session), fresh=call.fresh)

    def _last_changes(self, arguments: Mapping[str, Any]) -> object:
        """When a call's issues last changed (T6); None without issues. Each issue costs a conditional request."""
        numbers = [arguments[name] for name in ("number", "other") if name in arguments]
        if not numbers:
            return None
        ref = RepoRef.parse(arguments["repo"])
        client = self.open_repo(ref)
        return tuple(client.issue(ref, number).updated_at for number in numbers)

    def _remembered(
        self,
        session: str | None,
        tool: str,
        arguments: Mapping[str, Any],
        run: Callable[[], A],
        *,
        fresh: bool = False,
        keep: Callable[[A], bool] | None = None,
    ) -> A:
        if session is None:
            return run()
        found = self.tracker.call(session, tool, arguments, run, fresh=fresh, keep=keep)
        return found.result.model_copy(update={"cached": found.cached, "note": found.note})


def _found(known: KnownRepository, target: Issue, options: FindOptions, *, draft: bool = False) -> FindAnswer:
    """Search once, for the caller's options and for a preview of the bot's comment (P6)."""
    gathered = known.finder.gather(target, state=options.state)
    report = known.finder.find(target, known.options_for(target, options), gathered)
    texts = known.finder.own_texts(target, report.candidates, [hit.issue for hit in gathered.hits])
    return FindAnswer.of(report, target, known.comment_preview(target, gathered), texts, draft=draft)


def _cache_key(session: str) -> str:
    """The key under which the client remembers a session's reads."""
    return f"mcp {session}"


def _is_whole(findings: FindAnswer) -> bool:
    """Whether to remember an answer: after an incomplete search, the next one may find more."""
    return findings.outcome in (SearchOutcome.FOUND, SearchOutcome.NONE)
