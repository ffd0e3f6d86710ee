"""A small HTTP endpoint for machines: ``/metrics``, ``/live`` and ``/ready``. It shows no payload and changes nothing."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, ClassVar, Final

from nsplugin_core.metrics import CONTENT_TYPE

PATIENCE_S: Final = 5.0
_logger: Final = logging.getLogger("nsplugin.core")
Answer = tuple[int, str, bytes]
Answers = dict[str, Callable[[], Answer]]


def health(well: Callable[[], str | None]) -> Callable[[], Answer]:
    """A health page: 200, or 503 with what is wrong."""

    def answer() -> Answer:
        wrong = well()
        return (200, "text/plain; charset=utf-8", b"ok\n") if wrong is None else _plain(503, wrong)

    return answer


def numbers(text: Callable[[], bytes]) -> Callable[[], Answer]:
    """The page for Prometheus."""
    return lambda: (200, CONTENT_TYPE, text())


def _plain(status: int, text: str) -> Answer:
    return status, "text/plain; charset=utf-8", f"{text}\n".encode()


class AddressRefused(Exception):
    """The monitor can't listen where it was told to."""


class Monitor:
    """Serves the pages in threads of its own, at an address (``"127.0.0.1", 0`` takes any free port).

    Raises :class:`AddressRefused`.
    """

    def __init__(self, address: tuple[str, int], answers: Answers) -> None:
        handler = type("Handler", (_Handler,), {"answers": answers})
        try:
            self._server = (_Server6 if ":" in address[0] else _Server)(address, handler)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise AddressRefused(f"{address[0]}:{address[1]} can't be had: {why}") from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="nsplugin-monitor", daemon=True)
        self._thread.start()

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, port = self._server.server_address[:2]
        return str(host), port

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingMixIn, TCPServer):
    """Not ``HTTPServer``, which asks the network for the machine's name."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 16

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is a fault of ours."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            _logger.exception("the monitor failed")


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    answers: ClassVar[Answers] = {}
    timeout = PATIENCE_S
    server_version, sys_version = "nsplugin", ""

    def do_GET(self) -> None:
        """Answer one of the pages."""
        status, kind, body = self._page(self.path.partition("?")[0])
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _page(self, path: str) -> Answer:
        page = self.answers.get(path)
        if page is None:
            return _plain(404, f"there is nothing here; there are {', '.join(self.answers)}")
        try:
            return page()
        except Exception:
            _logger.exception("%s failed", path)
            return _plain(500, f"{path} failed; the log of the core says why")

    def log_message(self, format: str, *args: Any) -> None:
        """Each scrape is not worth a line."""
