"""Web applications on sockets, each in a thread of its own beside the core's loops: the administration page, for one."""

from __future__ import annotations

import errno
import socket
import threading
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from nsplugin_core.admin.access import Access, AccessRefused
from nsplugin_core.admin.guard import HOME

CONNECTIONS: Final = 200
BACKLOG: Final = 128
GRACE_S: Final = 3
START_S: Final = 10.0
_TAKEN: Final = "is taken by another program; name another port, or 0 for any free one"
_ELSEWHERE: Final = "is no address of this machine; 127.0.0.1 always is"


class WebServer:
    """Serves an application at an address; listens once made. Raises :class:`AccessRefused` when it can't be had."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._socket = _listening(access)
        self._host, self._port = access.host, int(self._socket.getsockname()[1])
        # The peer is who may be believed about users: uvicorn must not take it from a header.
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", proxy_headers=False, server_header=False, ws="none",
            timeout_graceful_shutdown=GRACE_S, limit_concurrency=CONNECTIONS, loop="asyncio",
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
