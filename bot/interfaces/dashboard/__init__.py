"""The pages for a repository's maintainers: what the bot did, why, and people's feedback."""
