"""The tools as a model sees them: names, descriptions, arguments, and errors that the caller can correct."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from anyio import from_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import ToolAnnotations
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BeforeValidator, Field

from bot.conversation.config.schema import ASKED_MOST
from bot.domain.entities import BODY_MAX, StateFilter
from bot.domain.errors import Forbidden, GitHubError, InvalidArgument, KeyRefused, NotFound, Retryable, UserError
from bot.interfaces.mcp.results import BacklogAnswer, Closed, Comparison, DedupedPlaybook, FindAnswer
from bot.interfaces.mcp.tools import Caller, Tools
from bot.quality.scanning.groups import THRESHOLD
from bot.quality.scanning.scan import LEAST
from bot.search.finder import FindOptions
from bot.search.ranking.relevance import DEFAULT_RELEVANCE
from bot.storage.failures import passes, why


def _no_flag(value: object) -> object:
    """F1: reject `true`, which Python and pydantic would take for 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


# Put this after the limits in `Annotated`: before them it would hide the limits from the clients' schema.
Numeric = BeforeValidator(_no_flag)
Owner = Annotated[str | None, Field(description="Default: the server's.")]
Repo = Annotated[str | None, Field(description="Or OWNER/REPO. Default: the server's.")]
Number = Annotated[int, Field(description="As in #12.", ge=1), Numeric]
Threshold = Annotated[float, Field(description="Least similarity of titles.", ge=0, le=1), Numeric]
MinConfidence = Annotated[float, Field(description="Least confidence.", ge=0, le=1), Numeric]
MaxCandidates = Annotated[int, Field(description="The most candidates.", ge=1, le=100), Numeric]
IncludeClosed = Annotated[bool, Field(description="Closed ones too.")]
Fresh = Annotated[bool, Field(description="Not from memory.")]
Judge = Annotated[bool, Field(description="A model reads them.")]
Relevance = Annotated[
    Literal["learned", "title", "bm25", "bm25f", "bm25plus"], Field(description="To sort by; learned is best.")
]
Sources = Annotated[tuple[str, ...], Field(description="Only what these found, such as full-text.")]

P = ParamSpec("P")
R = TypeVar("R")


def with_caller_errors(tool: Callable[P, R], failure: type[Exception] = ToolError) -> Callable[P, R]:
    """The tool, wrapped to raise `failure` for errors that concern the caller. Bugs of ours stay in the log."""

    @wraps(tool)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return tool(*args, **kwargs)
        except Exception as problem:
            if message := _caller_error(problem):
                raise failure(message) from None
            raise

    return run


def _caller_error(problem: Exception) -> str:
    """The message for the caller; empty for a bug of ours."""
    if isinstance(problem, Forbidden) and problem.unknown:
        return f"{problem}: GitHub does not know who asks; the server's GITHUB_TOKEN is wrong or has expired"
    if isinstance(problem, NotFound):
        return (
            f"{problem}: it is not there, or cannot be read with what the server is set up with. As the App it must be "
            "installed there; GITHUB_TOKEN counts where no APP_ID is set"
        )
    if isinstance(problem, KeyRefused):
        return (
            f"{problem}. The server's APP_ID and PRIVATE_KEY must belong to one App that is there: see `doppel doctor`."
        )
    if isinstance(problem, UserError | GitHubError):
        return str(problem)
    if isinstance(problem, Retryable):
        return f"{problem}. Try again {'later' if problem.after is None else f'in {problem.after:.0f} seconds'}."
    if passes(problem):
        return f"the database failed: {why(problem)}. Try again later."
    return ""


_READS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
_COMPUTES = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)


def offer(server: MCPServer[str], tools: Tools, *, allow_writes: bool, playbooks: bool) -> None:
    """Add tools, resources and prompts to the server.

    Tools that write are added only with `allow_writes`, `dedupe_playbook` only with `playbooks`.
    """
    offered = _Offered(tools)
    server.resource(
        "doppel://{owner}/{repo}/issues/{number}/duplicates",
        name="duplicates",
        description="What the bot would look at for an issue: earlier and later reports, open or closed.",
        mime_type="application/json",
    )(with_caller_errors(offered.duplicates, ResourceError))
    for prompt in (before_filing, triage_issue, tidy_backlog):
        server.prompt()(prompt)
    for tool, kind in (
        (offered.find_duplicates, _READS),
        (offered.check_draft, _READS),
        (offered.explain_pair, _READS),
        (offered.scan_backlog, _READS),
        (offered.dedupe_playbook, _COMPUTES),
        (offered.close_as_duplicate, _WRITES),
    ):
        wanted = playbooks or tool != offered.dedupe_playbook
        if wanted and (allow_writes or kind.read_only_hint):
            server.add_tool(with_caller_errors(tool), annotations=kind)


def session_of(context: Context[str, Any]) -> str | None:
    """The caller's session; None if unknown, as for HTTP requests without a session.

    Over stdio and in one process, each connection has its own server. Over HTTP, the SDK has checked the session's id,
    but only in protocol versions that have sessions.
    """
    if context.headers is None:
        return context.request_context.lifespan_context
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    return context.headers.get("mcp-session-id")


class _Offered:
    """Each method is a tool, with the method's docstring as description and the method's arguments."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

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

        By default only open ones with similar titles; threshold=0 and include_closed=true look where the bot looks.
        """
        options = _options(threshold, min_confidence, max_candidates, include_closed, relevance, sources)
        return self._tools.find_duplicates(_caller(context, owner, repo, fresh), number, options, judge=judge)

    def duplicates(self, context: Context[str, Any], owner: str, repo: str, number: str) -> str:
        """The answer of `find_duplicates`, as JSON, for the issues that the bot searches."""
        if not number.isdecimal() or not int(number):
            raise InvalidArgument("number", f"{number[:20]!r} is not the number of an issue")
        options = _options(0.0, 0.0, ASKED_MOST, True)
        return self._tools.find_duplicates(_caller(context, owner, repo, False), int(number), options).model_dump_json()

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
        options = _options(threshold, min_confidence, max_candidates, include_closed)
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
        """Say how likely two issues of one repository report the same thing, found or not, and what speaks for it."""
        return self._tools.explain_pair(_caller(context, owner, repo, fresh), number, other)

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

        A group's oldest is proposed as the original. At 0.05 there are more groups, and more are wrong. Have a person
        or explain_pair confirm a pair before you act. Needs this host's index; a first scan can take minutes.
        """

        def tell(done: int, total: int) -> None:
            # The tool runs in a thread, but progress must be sent from the event loop.
            from_thread.run(context.report_progress, done, total, f"{done} of {total} issues compared")

        return self._tools.scan_backlog(
            _caller(context, owner, repo, fresh),
            include_closed=include_closed,
            min_confidence=min_confidence,
            limit=limit,
            tell=tell,
        )

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
        return self._tools.dedupe_playbook(Caller(session_of(context)), playbook, min_similarity)

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
        return self._tools.close_as_duplicate(Caller(session_of(context), owner, repo), number, original)


def before_filing(title: str, body: str = "") -> str:
    """See whether an issue was reported already, before it is filed."""
    return (
        "Before this issue is filed, call check_draft with its title and body. If an open issue is very likely the "
        "same, say which, quote the reason, and propose a comment there that adds what is new here. Else say that "
        f"nothing alike was found, or that not everything could be asked.\n\nTitle: {title}\n\n{body}"
    )


def triage_issue(number: str) -> str:
    """Decide whether an issue repeats an earlier one, and draft the reply."""
    return (
        f"Call find_duplicates for issue {number} with threshold 0, include_closed true and max_candidates 5. Call "
        "explain_pair for each that is at least possibly the same. Then say which one it repeats, if any, and why; "
        "draft a friendly reply. Change nothing on GitHub: a maintainer decides, with `/duplicates of #N`."
    )


def tidy_backlog(limit: str = "10") -> str:
    """List the groups of open issues that report the same thing."""
    return (
        f"Call scan_backlog with limit {limit}. For each group read the original and its members, and sort them into "
        "same, related and different, with a reason each. End with the `/duplicates of #N` commands for a maintainer "
        "to post."
    )


def _caller(context: Context[str, Any], owner: str | None, repo: str | None, fresh: bool) -> Caller:
    return Caller(session_of(context), owner, repo, fresh)


def _options(
    threshold: float,
    min_confidence: float,
    max_candidates: int,
    include_closed: bool,
    relevance: str = DEFAULT_RELEVANCE,
    sources: Sequence[str] = (),
) -> FindOptions:
    state: StateFilter = "all" if include_closed else "open"
    return FindOptions(threshold, max_candidates, relevance, min_confidence, state, sources=tuple(sources))
