"""`doppel scan`: groups of issues in a backlog that report the same thing."""

from bot.cli.scan.command import scan

__all__ = ["scan"]
