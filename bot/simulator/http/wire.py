"""A small HTTP/1.1 server for a WSGI application, with a thread for each connection; connections stay open.

Werkzeug's own server closes the connection after every answer, which real clients and load tests would notice.
"""

from __future__ import annotations

import contextlib
import io
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote_to_bytes

Application = Callable[[dict[str, Any], Callable[..., Any]], Any]

# The most bytes in the body of a request.
BODY_LIMIT = 25 * 1024 * 1024


class WireServer(ThreadingHTTPServer):
    """Serves `application` on a bound socket."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, listener: socket.socket, application: Application) -> None:
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        # The base class has made a socket of its own.
        self.socket.close()
        self.socket = listener
        self.application = application
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that `close` can end it."""
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print a traceback, but not for OSError: then the client or a simulated fault has closed the connection."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        """Stop listening and end every connection, even idle ones."""
        self.shutdown()
        self.server_close()
        with self._guard:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: WireServer

    def _respond(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if self.headers.get("Transfer-Encoding") or not length.isdecimal() or int(length) > BODY_LIMIT:
            self.close_connection = True
            self.send_error(411 if self.headers.get("Transfer-Encoding") else 413)
            return
        body = self.rfile.read(int(length))
        # The arguments of WSGI's `start_response`: status, headers, perhaps an exception.
        started: list[Any] = []
        chunks = self.server.application(self._environ(body), lambda *args: started.extend(args))
        content = b"".join(chunks)
        if hasattr(chunks, "close"):
            chunks.close()
        status, headers = started[0], started[1]
        # An application that simulates the time sets the date itself.
        dated = any(name.lower() == "date" for name, _ in headers)
        lines = [f"HTTP/1.1 {status}", "Server: github.com", *([] if dated else [f"Date: {self.date_time_string()}"])]
        lines += [f"{name}: {value}" for name, value in headers]
        # One write, so that headers and body share a packet.
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1") + (content if self.command != "HEAD" else b""))

    def _environ(self, body: bytes) -> dict[str, Any]:
        path, _, query = self.path.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": self.command,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "SERVER_NAME": self.server.server_address[0],
            "SERVER_PORT": str(self.server.server_address[1]),
            "SERVER_PROTOCOL": self.request_version,
            "REMOTE_ADDR": self.client_address[0],
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
            "simulator.connection": self.connection,
        }
        for name, value in self.headers.items():
            key = name.upper().replace("-", "_")
            environ["CONTENT_TYPE" if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        return environ

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _respond

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the client has a log."""
