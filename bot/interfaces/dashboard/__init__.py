"""The pages for people who look after a repository: what the bot did there, why, and what was said to it."""
