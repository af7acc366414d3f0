"""The values that every other room speaks of: issues, comments, reports, decisions, errors. No effects."""
