"""The issues of each repository, to be found by words and by meaning; SQLite or PostgreSQL."""

from bot.index.analysis import Analysis, TextAnalyser
from bot.index.index import Index
from bot.index.issues import IndexedIssue
from bot.index.postings.packing import Bags
from bot.index.postings.scoring import Scores, bm25, idf, shared
from bot.index.vectors.vectors import Kind
from bot.index.view import Query, Terms, View

__all__ = ["Analysis", "Bags", "Index", "IndexedIssue", "Kind", "Query", "Scores", "Terms", "TextAnalyser", "View"]
__all__ += ["bm25", "idf", "shared"]
