"""Runs past issues through the bot's finder in order of arrival, with an index or with a simulated GitHub search."""
