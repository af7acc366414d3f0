"""The real GitHub, behind the few operations that the bot needs: `bot.github.client.GitHub` is the door.

Nothing is imported here: githubkit takes a third of a second to load, and many need only a value of one file.
"""
