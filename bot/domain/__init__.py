"""The values that all other packages share: issues, comments, reports, decisions, errors. No effects."""
