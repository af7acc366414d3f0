"""The real GitHub, behind the few operations that the bot needs: `bot.github.client.GitHub` is the door.

Nothing is imported here: `bot.settings` needs `keys` alone, and githubkit takes a third of a second to load.
"""
