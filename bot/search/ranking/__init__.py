"""The pure functions of the search: queries, similarity of titles, fusion, grouping, relevance. No I/O, no logs."""
