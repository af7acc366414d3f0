"""The search index: each repository's issues by words and by meaning, in SQLite or PostgreSQL.

`indexer.py` fills it; `matching/` searches it.
"""

from bot.search.index.analysis import Analysis, TextAnalyser
from bot.search.index.arrays import Bags, Scores, binary, bm25, idf
from bot.search.index.index import Index
from bot.search.index.issues import IndexedIssue
from bot.search.index.vectors import VectorKind
from bot.search.index.view import Query, Terms, View

__all__ = ["Analysis", "Bags", "Index", "IndexedIssue", "Query", "Scores", "Terms", "TextAnalyser", "VectorKind"]
__all__ += ["View", "binary", "bm25", "idf"]
