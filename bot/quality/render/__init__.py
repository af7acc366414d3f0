"""Evaluation, scan and digest as Markdown and pictures."""
