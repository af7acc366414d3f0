"""Runs past issues through the bot's finder in order of arrival, over an index or over a simulated GitHub search."""
