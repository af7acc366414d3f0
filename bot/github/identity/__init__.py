"""Who asks, and by which token: the App, an installation of it, somebody who signs in, or nobody in particular."""
