"""What is said to this machine itself, and who listens on it.

A proxy for the way out of it is none for the way to its own processes.
"""

from __future__ import annotations

import errno
import ipaddress
import secrets
import socket
from contextlib import suppress
from urllib.parse import urlsplit

from bot.errors import SettingsError

_PORTS = range(10_000, 16_000)
"""Below those that a system gives to whoever asks for any (from 32,768 on, on Linux), and none that the tests draw."""


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


def free_port() -> int:
    """A port that nobody listens on, for a process that has to be told one and cannot say which it took by itself.

    One that the system gave would be given to the next who asks, as soon as it is let go.
    """
    while True:
        port = secrets.choice(_PORTS)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def refusal(host: str, port: int) -> OSError | None:
    """Why nobody can listen there now; None where one can. Asked before a server is started that would fail late."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address[:2], family=family).close()
    except OSError as problem:
        return problem
    return None


def check_address(host: str, port: int) -> None:
    """Raise SettingsError if a server could not listen there: gunicorn would try for ever, or share the port."""
    problem = refusal(host, port)
    if problem is None:
        return
    mend = {
        errno.EADDRINUSE: "End that program, or choose another port with PORT or --port.",
        errno.EACCES: "Choose a port from 1024 on with PORT or --port, which everybody may listen on.",
    }.get(problem.errno or 0, "Choose an address of this machine's with DOPPEL_HOST or --host.")
    raise SettingsError(f"PORT, DOPPEL_HOST: cannot listen on {host}:{port}: {in_words(problem)}. {mend}") from problem


def in_words(problem: OSError) -> str:
    """Such a refusal for people."""
    return "another program listens there" if problem.errno == errno.EADDRINUSE else str(problem.strerror)
