"""Calls GitHub, and turns its answers into the bot's values and errors."""
