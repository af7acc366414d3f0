"""The identities at GitHub: the App, its installations, and people who sign in."""
