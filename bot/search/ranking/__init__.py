"""The pure part of the search: queries, similarity of titles, fusion, grouping, relevance. No I/O and no logging."""
