"""What the bot did in some days, and how right that was as far as anybody has said (C7)."""
