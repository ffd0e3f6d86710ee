"""Web applications on sockets, each in a thread of its own beside the core's loops: the administration page, for one."""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from nsplugin_core.admin.access import Access, AccessRefused
from nsplugin_core.admin.guard import HOME

CONNECTIONS: Final = 200
BACKLOG: Final = 128
GRACE_S: Final = 3
START_S: Final = 10.0
KEEP_S: Final = 15
"""How long a connection stays open between two requests: as long as a page is looked at shortly."""
HEAD_S: Final = 10.0
"""How long the head of a request may take to arrive; uvicorn itself waits for ever, and connections are counted."""
_TAKEN: Final = "is taken by another program; name another port, or 0 for any free one"
_ELSEWHERE: Final = "is no address of this machine; 127.0.0.1 always is"


class Impatient(H11Protocol):
    """Closes connections on which no request has arrived in time, whole or in part. (Bodies have their own time.)"""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """The time runs from the start."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Part of a head does not stop the time; a whole one does."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._calm_down()
        elif self._patience is None:
            self._await_head()

    def on_response_complete(self) -> None:
        """From here on the time between requests counts."""
        super().on_response_complete()
        self._calm_down()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        self._calm_down()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._patience = self.loop.call_later(HEAD_S, self.transport.close)

    def _calm_down(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


class WebServer:
    """Serves an application at an address; listens once made. Raises :class:`AccessRefused` when it can't be had."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._socket = _listening(access)
        self._host, self._port = access.host, int(self._socket.getsockname()[1])
        # The peer is who may be believed about users: uvicorn must not take it from a header.
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", proxy_headers=False, server_header=False, ws="none",
            timeout_graceful_shutdown=GRACE_S, timeout_keep_alive=KEEP_S, limit_concurrency=CONNECTIONS, loop="asyncio",
            http=Impatient,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="nsplugin-web", daemon=True)

    @property
    def root(self) -> str:
        """Its origin, without a slash in the end."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer what has been asked, and end."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._socket.close()


class AdminServer(WebServer):
    """Serves the administration page."""

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"{self.root}{HOME}"


def _listening(access: Access) -> socket.socket:
    family = socket.AF_INET6 if ":" in access.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((access.host, access.port))
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise AccessRefused(f"{access.host}:{access.port} {_why(error)}") from error
    return made


def _why(error: OSError) -> str:
    known = {
        errno.EADDRINUSE: _TAKEN,
        errno.EADDRNOTAVAIL: _ELSEWHERE,
        errno.EACCES: "needs more rights; name a port from 1024 on",
    }
    return known.get(error.errno or 0, f"cannot be listened at: {error.strerror or error}")
