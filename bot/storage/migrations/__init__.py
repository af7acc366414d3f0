"""The history of the store's schema; `bot.storage.migrate` applies it."""
