"""How the bot is and what it does: counts and their page, health, log lines, traces, and what they belong to."""
