"""The issues of each repository, to be found by words and by meaning; SQLite or PostgreSQL."""

from bot.search.index.analysis import Analysis, TextAnalyser
from bot.search.index.arrays import Bags, Scores, binary, bm25, idf
from bot.search.index.index import Index
from bot.search.index.issues import IndexedIssue
from bot.search.index.vectors import VectorKind
from bot.search.index.view import Query, Terms, View

__all__ = ["Analysis", "Bags", "Index", "IndexedIssue", "Query", "Scores", "Terms", "TextAnalyser", "VectorKind"]
__all__ += ["View", "binary", "bm25", "idf"]
