"""Finds earlier issues: index, embedding, sources, matching, ranking, finder, judge."""
