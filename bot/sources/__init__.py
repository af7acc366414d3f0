"""The haystacks (H6): one file each, behind one protocol, asked side by side."""

from __future__ import annotations

from bot.sources.asking import ask_all
from bot.sources.choosing import FULL_TEXT, NAMES, VECTORS, chosen, only
from bot.sources.discussions import Discussions, DiscussionSearcher
from bot.sources.github_hybrid import GitHubHybrid
from bot.sources.github_lexical import GitHubLexical
from bot.sources.github_similar import GitHubSimilar, SimilarReader
from bot.sources.known_issues import KnownIssues
from bot.sources.merging import Hit, collapsed, limited, merge
from bot.sources.protocol import Answer, Question, Searcher, Source
from bot.sources.pull_requests import PullRequests
from bot.sources.siblings import RepositoryReader, Siblings

__all__ = [
    "FULL_TEXT",
    "NAMES",
    "VECTORS",
    "Answer",
    "DiscussionSearcher",
    "Discussions",
    "GitHubHybrid",
    "GitHubLexical",
    "GitHubSimilar",
    "Hit",
    "KnownIssues",
    "PullRequests",
    "Question",
    "RepositoryReader",
    "Searcher",
    "Siblings",
    "SimilarReader",
    "Source",
    "ask_all",
    "chosen",
    "collapsed",
    "limited",
    "merge",
    "only",
]
