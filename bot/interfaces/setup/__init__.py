"""Set-up in the browser: creates the GitHub App from its manifest, and stores its credentials."""
