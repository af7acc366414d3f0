"""Doppel as a library: all names that docs/library.md lists.

The first use of a name loads the name's module, so a program that only merges playbooks loads no GitHub client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.domain.entities import RepoRef, StateFilter
    from bot.domain.report import Report
    from bot.interfaces.agents.run import SECTION_SLUGS, run_deduplication
    from bot.platform.call_rules import ToolRule, equal, fields
    from bot.platform.call_tracker import ToolCallTracker, get_tool_call_tracker, set_tool_call_tracker
    from bot.search.finder import Finder
    from bot.search.ranking.fusion import (
        RankedSourceList,
        SourceType,
        UnifiedRetrievalChunk,
        cross_corpus_rrf,
        deduplicate_chunks,
        source_label,
    )
    from bot.search.ranking.grouping import content_hash, title_similarity
    from bot.search.ranking.plan import plan_queries
    from bot.search.ranking.query import STOP_WORDS, extract_search_keywords, literal_query, neutralise
    from bot.search.ranking.similarity import dice_sorensen, score_candidates
    from bot.text.github_urls import is_github_url_match, normalize_url

__all__ = [
    "SECTION_SLUGS",
    "STOP_WORDS",
    "Finder",
    "RankedSourceList",
    "RepoRef",
    "Report",
    "SourceType",
    "ToolCallTracker",
    "ToolRule",
    "UnifiedRetrievalChunk",
    "content_hash",
    "cross_corpus_rrf",
    "deduplicate_chunks",
    "dice_sorensen",
    "equal",
    "extract_search_keywords",
    "fields",
    "find_duplicates",
    "get_tool_call_tracker",
    "is_github_url_match",
    "literal_query",
    "neutralise",
    "normalize_url",
    "plan_queries",
    "run_deduplication",
    "score_candidates",
    "set_tool_call_tracker",
    "source_label",
    "title_similarity",
]

_NAMES_BY_MODULE = {
    "bot.domain.entities": "RepoRef",
    "bot.domain.report": "Report",
    "bot.interfaces.agents.run": "SECTION_SLUGS run_deduplication",
    "bot.platform.call_tracker": "ToolCallTracker get_tool_call_tracker set_tool_call_tracker",
    "bot.platform.call_rules": "ToolRule equal fields",
    "bot.search.finder": "Finder",
    "bot.search.ranking.fusion": "RankedSourceList SourceType UnifiedRetrievalChunk cross_corpus_rrf "
    "deduplicate_chunks source_label",
    "bot.search.ranking.plan": "plan_queries",
    "bot.search.ranking.query": "STOP_WORDS extract_search_keywords literal_query neutralise",
    "bot.search.ranking.grouping": "content_hash title_similarity",
    "bot.search.ranking.similarity": "dice_sorensen score_candidates",
    "bot.text.github_urls": "is_github_url_match normalize_url",
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load a name's module (PEP 562). Raises AttributeError for a name that is not listed."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__


def find_duplicates(
    owner: str,
    repo: str,
    number: int,
    threshold: float = 0.3,
    max_candidates: int = 10,
    include_closed: bool = False,
    *,
    state: StateFilter | None = None,
    sources: tuple[str, ...] = (),
) -> Report:
    """Read issue `number` of `owner/repo` and look for other issues that report the same thing (F2).

    Reads GitHub as the App if one is set up, else with `GITHUB_TOKEN`. Drops issues if their titles' similarity to this
    issue's title is below `threshold`, in [0, 1]. If a kept issue is a known duplicate, shows its original instead,
    whose title may be less similar. `max_candidates` is 1 or more. `state` ("open", "closed" or "all") overrides
    `include_closed`. `sources` limits the report to candidates that these sources found.

    Raises SettingsError without credentials, InvalidArgument naming the argument, NotFound if the issue does not exist,
    GitHubError or Retryable if the issue cannot be read. The report names each source that failed.
    """
    from bot.app.wiring.clients import build_github, reader
    from bot.domain.entities import RepoRef
    from bot.platform.settings import load
    from bot.search.finder import Finder

    settings = load()
    finder = Finder(reader(settings, build_github(settings), RepoRef.of(owner, repo)))
    return finder.find_duplicates(
        owner, repo, number, threshold, max_candidates, include_closed, state=state, sources=sources
    )
