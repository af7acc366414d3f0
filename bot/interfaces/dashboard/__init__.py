"""The pages for people who look after a repository: what the bot did there, why, and people's feedback."""
