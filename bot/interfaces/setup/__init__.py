"""Set-up in the browser: the GitHub App is created from its manifest, and its credentials are kept."""
