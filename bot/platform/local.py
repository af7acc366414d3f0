"""Small helpers for this machine's addresses, ports, packages and terminal."""

from __future__ import annotations

import errno
import ipaddress
import secrets
import shlex
import socket
import sys
from contextlib import suppress
from urllib.parse import urlsplit

from bot.domain.errors import SettingsError

_PORTS = range(10_000, 16_000)
"""The ports for `free_port`. The tests use higher ports. Linux itself chooses ports from 32,768 on."""


def is_here(url: str) -> bool:
    """Whether a URL leads to this machine; False for a malformed URL."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_well(url: str) -> bool:
    """Whether one of our own processes answers with success at `url` within two seconds. Uses no proxy."""
    # Import late: every command loads this module for its settings, and few commands need the HTTP library.
    import requests

    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(url, timeout=2).ok
        except requests.RequestException:
            return False


def free_port() -> int:
    """A free port. It is not from the system's own range, where another process might soon get the same port."""
    while True:
        port = secrets.choice(_PORTS)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def refusal(host: str, port: int) -> OSError | None:
    """The error that keeps a server from listening on this address, if any."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address[:2], family=family).close()
    except OSError as problem:
        return problem
    return None


def check_address(host: str, port: int) -> None:
    """Raise SettingsError if a server cannot listen here. (gunicorn would retry for seconds, or share the port.)"""
    problem = refusal(host, port)
    if problem is None:
        return
    advice = {
        errno.EADDRINUSE: "End that program, or choose another port (--port; receiver: PORT).",
        errno.EACCES: "Choose a port from 1024 on: it needs no rights (--port; receiver: PORT).",
    }.get(problem.errno or 0, "Choose an address of this machine (--host; receiver: DOPPEL_HOST).")
    raise SettingsError(f"cannot listen on {host}:{port}: {in_words(problem)}. {advice}") from problem


def in_words(problem: OSError) -> str:
    """Explain to people why a server cannot listen."""
    return "another program listens there" if problem.errno == errno.EADDRINUSE else str(problem.strerror)


def pip_install(*packages: str) -> str:
    """The command that installs packages where this program finds them.

    Pass no extra such as `doppel[models]`: `doppel` on the package index is another program.
    """
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])


def plain(text: str) -> str:
    """The text on one line, without control characters, which could move the cursor or hide other text."""
    return "".join(char if char.isprintable() else " " for char in text)
