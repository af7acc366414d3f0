"""The client for GitHub, with the few operations that the bot needs. The entry point is `bot.github.client.GitHub`.

This file imports nothing: githubkit takes a third of a second to load, and many callers need only a constant.
"""
