"""The history of the store's schema; `bot.store.database.migrate` applies it."""
