"""The conversation between people and the bot: commands, repository settings, comments and replies."""
