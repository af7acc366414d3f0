"""`doppel find OWNER/REPO#N`: the finder by hand."""

from bot.cli.find.command import find

__all__ = ["find"]
