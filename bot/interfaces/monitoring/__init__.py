"""What all processes have counted, and how queue, store and workers are, for those who run the bot."""
