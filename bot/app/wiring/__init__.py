"""The composition root: the only package that builds clients and stores, and that knows the handlers."""
