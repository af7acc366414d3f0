"""The tools as a model sees them: names, descriptions, arguments."""

from __future__ import annotations

from typing import Annotated, Any

from anyio import from_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from bot.finder import FindOptions
from bot.mcp.arguments import Fresh, Given, IncludeClosed, Most, Number, Owner, Relevance, Repo, Threshold
from bot.mcp.results import Backlog, Closed, Comparison, DedupedPlaybook, Findings
from bot.mcp.tools import Caller, Tools
from bot.model import BODY_MAX
from bot.ranking.relevance import DEFAULT_RELEVANCE
from bot.scanning.asking import LEAST
from bot.scanning.groups import THRESHOLD

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
_COMPUTES = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)


def offer(server: MCPServer[str], tools: Tools, *, allow_writes: bool) -> None:
    """Add the tools to the server. One that does not only read is left out unless `allow_writes`."""
    offered = _Offered(tools)
    for tool, title, kind in (
        (offered.find_duplicates, "Find earlier reports of an issue", _READS),
        (offered.check_draft, "Check a draft before filing it", _READS),
        (offered.explain_pair, "Compare two issues", _READS),
        (offered.scan_backlog, "Find groups of duplicates in a whole backlog", _READS),
        (offered.dedupe_playbook, "Merge entries of a playbook that say the same", _COMPUTES),
        (offered.close_as_duplicate, "Close an issue as a duplicate", _WRITES),
    ):
        if allow_writes or kind.read_only_hint:
            server.add_tool(tool, title=title, annotations=kind)


def session_of(context: Context[str, Any]) -> str | None:
    """Who calls. None where nobody can tell, as with HTTP requests that belong to no session.

    Over stdio and in one process a connection has a server of its own; over HTTP the SDK has checked the session's id,
    but only in the protocol versions that have sessions.
    """
    if context.headers is None:
        return context.request_context.lifespan_context
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    return context.headers.get("mcp-session-id")


class _Offered:
    """Each method is a tool: its docstring is the description, its arguments are those of the tool."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def find_duplicates(
        self,
        context: Context[str, Any],
        number: Number,
        owner: Owner = None,
        repo: Repo = None,
        threshold: Threshold = 0.3,
        max_candidates: Most = 10,
        include_closed: IncludeClosed = False,
        relevance: Relevance = "learned",
        fresh: Fresh = False,
    ) -> Findings:
        """Find issues of the same repository that report the same thing as an existing issue, likeliest first.

        Each candidate has a confidence (the probability that it is the same issue) and the reasons for it. Read
        `outcome` before concluding that there are none. For an issue that is not filed yet use check_draft.
        """
        options = _options(threshold, max_candidates, include_closed, relevance)
        return self._tools.find_duplicates(_caller(context, owner, repo, fresh), number, options)

    def check_draft(
        self,
        context: Context[str, Any],
        title: Annotated[str, Field(description="The draft's title.", min_length=1, max_length=1000)],
        body: Annotated[
            str, Field(description="The draft's text; error messages help most.", max_length=BODY_MAX)
        ] = "",
        owner: Owner = None,
        repo: Repo = None,
        threshold: Threshold = 0.3,
        max_candidates: Most = 10,
        include_closed: IncludeClosed = False,
        fresh: Fresh = False,
    ) -> Findings:
        """Before filing an issue, find issues of the repository that report the same thing already.

        Takes title and body as they would be filed; nothing is written. If a likely candidate is open, add to it
        instead of filing another; with include_closed you also see what was fixed or declined.
        """
        options = _options(threshold, max_candidates, include_closed)
        return self._tools.check_draft(_caller(context, owner, repo, fresh), title, body, options)

    def explain_pair(
        self,
        context: Context[str, Any],
        number: Number,
        other: Number,
        owner: Owner = None,
        repo: Repo = None,
        fresh: Fresh = False,
    ) -> Comparison:
        """Say how likely two issues of one repository report the same thing, and what speaks for it.

        Works for any two issues, whether find_duplicates shows the pair or not.
        """
        return self._tools.explain_pair(_caller(context, owner, repo, fresh), number, other)

    def scan_backlog(
        self,
        context: Context[str, Any],
        owner: Owner = None,
        repo: Repo = None,
        include_closed: Annotated[
            bool, Field(description="Look through closed issues too, but for those closed as duplicates.")
        ] = False,
        threshold: Annotated[
            float,
            Field(description="Least confidence of every two issues of a group.", ge=LEAST, le=1),
            Given,
        ] = THRESHOLD,
        limit: Annotated[int, Field(description="The most groups to return.", ge=1, le=100), Given] = 20,
        fresh: Annotated[
            bool, Field(description="Look anew, although the same was asked within five minutes.")
        ] = False,
    ) -> Backlog:
        """Look through all open issues of a repository for groups that may report the same thing.

        For tidying up a backlog; for one issue find_duplicates is quicker. Each group proposes its oldest issue as the
        original and gives for every other one the confidence that it is the same, with reasons; those groups come first
        by which a maintainer gains most. At the default threshold groups are few and most of them are right; 0.05 shows
        more, of which more are wrong. Have a person or explain_pair confirm a pair before you act on it.

        Works on this host's own index of the repository, and says how to fill it where there is none. The first scan of
        thousands of issues takes minutes and reports progress; it goes on where it was stopped, and later scans ask
        only about what has changed. Nothing is written to GitHub.
        """

        def tell(done: int, total: int) -> None:
            # Tools run in a thread, beside the loop that speaks with the client.
            from_thread.run(context.report_progress, done, total, f"{done} of {total} issues compared")

        return self._tools.scan_backlog(
            _caller(context, owner, repo, fresh),
            include_closed=include_closed,
            threshold=threshold,
            limit=limit,
            tell=tell,
        )

    def dedupe_playbook(
        self,
        context: Context[str, Any],
        playbook: Annotated[
            dict[str, Any],
            Field(
                description="{version, last_updated, sections: {SECTION: [{name, text, helpful, harmful}]}}, "
                "with counters that are whole numbers from 0 on."
            ),
        ],
        threshold: Annotated[
            float | None,
            Field(description="Least cosine similarity, 0 to 1. Default: right for the model in use."),
            Given,
        ] = None,
    ) -> DedupedPlaybook:
        """Merge the entries of a playbook whose texts say the same, across its sections.

        The first of a group keeps name, text and section and gets the sums of the counters; no text is rewritten.
        Returns the merged playbook and what was merged into what. Nothing is stored.
        """
        return self._tools.dedupe_playbook(Caller(session_of(context)), playbook, threshold)

    def close_as_duplicate(
        self,
        context: Context[str, Any],
        number: Number,
        original: Annotated[int, Field(description="The older, open issue that stays.", ge=1), Given],
        owner: Owner = None,
        repo: Repo = None,
    ) -> Closed:
        """Close an issue on GitHub as a duplicate of an older open one. This changes the repository.

        Only on a person's explicit wish: a confidence alone is no reason to close anything.
        """
        return self._tools.close_as_duplicate(Caller(session_of(context), owner, repo), number, original)


def _caller(context: Context[str, Any], owner: str | None, repo: str | None, fresh: bool) -> Caller:
    return Caller(session_of(context), owner, repo, fresh)


def _options(
    threshold: float, max_candidates: int, include_closed: bool, relevance: str = DEFAULT_RELEVANCE
) -> FindOptions:
    return FindOptions(threshold, max_candidates, relevance, state="all" if include_closed else "open")
