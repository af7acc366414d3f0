"""The client for GitHub, with the few operations that the bot needs; `bot.github.client.GitHub` is the entry.

It imports nothing here: githubkit takes a third of a second to load, and many callers need only one value.
"""
