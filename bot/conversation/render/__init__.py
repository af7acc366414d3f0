"""Renders reports and results as the Markdown that people read. Pure functions."""
