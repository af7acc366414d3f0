"""The composition root: the only place that builds clients and stores, and that knows the handlers."""
