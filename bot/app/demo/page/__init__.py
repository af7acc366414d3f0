"""A web page that shows the simulated repository, so that people can play with the bot."""
