"""The pages of the simulated GitHub for people: to create an App, to install it, to sign in.

Their content is that of GitHub's pages. There are no passwords: people choose in the form who they are.
"""

from bot.simulator.site.pages import SIMULATOR, make_site

__all__ = ["SIMULATOR", "make_site"]
