"""What is said to this machine itself: a proxy for the way out of it is none for the way to its own processes."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_here(url: str) -> bool:
    """Whether an address leads to the machine that this runs on; what is no address leads nowhere."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_well(url: str) -> bool:
    """Whether one of our own processes answers at `url`, and answers well, within two seconds."""
    # Settings need the other question alone, and every command needs settings.
    import requests

    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(url, timeout=2).ok
        except requests.RequestException:
            return False
