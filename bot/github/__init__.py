"""The real GitHub, behind the few operations that the bot needs."""
