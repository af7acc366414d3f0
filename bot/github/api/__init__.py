"""How anything is asked of GitHub, and how its answers become values and errors of the bot's."""
