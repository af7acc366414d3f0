"""`doppel evaluate`: how well Doppel would have done, from duplicates that people marked."""

from bot.cli.evaluate.command import evaluate

__all__ = ["evaluate"]
