"""The haystacks (H6): one file each, behind one protocol, asked side by side."""

from __future__ import annotations

from bot.sources.asking import ask_all
from bot.sources.github_hybrid import GitHubHybrid
from bot.sources.github_lexical import GitHubLexical
from bot.sources.merging import Hit, counts, merge
from bot.sources.protocol import Answer, Page, Question, Searcher, Source

__all__ = [
    "Answer",
    "GitHubHybrid",
    "GitHubLexical",
    "Hit",
    "Page",
    "Question",
    "Searcher",
    "Source",
    "ask_all",
    "counts",
    "merge",
]
