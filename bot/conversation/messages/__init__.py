"""The bot's messages in six languages, and the templates with which a repository replaces them."""
