"""The bot's own comments and issues on GitHub: it creates each once, finds it by its marker, and edits it."""
