"""Whether one can listen at an address, asked before a server is started that would fail late, in words of its own."""

from __future__ import annotations

import errno
import socket


def refusal(host: str, port: int) -> OSError | None:
    """Why nobody can listen there now; None where one can."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address[:2], family=family).close()
    except OSError as problem:
        return problem
    return None


def in_words(problem: OSError) -> str:
    """The same for people."""
    return "another program listens there" if problem.errno == errno.EADDRINUSE else str(problem.strerror)
