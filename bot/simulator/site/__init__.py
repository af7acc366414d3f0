"""The pages of the simulated GitHub that an App sends people to: to create it, to install it, to sign in.

They say what GitHub's pages say, and who is looking is chosen in the form, since nobody has a password here.
"""

from bot.simulator.site.pages import SIMULATOR, make_site

__all__ = ["SIMULATOR", "make_site"]
