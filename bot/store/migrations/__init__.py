"""The history of the store's schema; `bot.store.migrate` applies it."""
