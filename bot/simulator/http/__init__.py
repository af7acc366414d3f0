"""From a request on the wire to a route, and from its outcome to an answer."""
