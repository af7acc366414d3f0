"""The simulated GitHub's web pages, on which people sign in, create an App and install the App.

Their content is that of GitHub's pages. There are no passwords: people choose in the form who they are.
"""

from bot.simulator.site.pages import SIMULATOR, make_site

__all__ = ["SIMULATOR", "make_site"]
