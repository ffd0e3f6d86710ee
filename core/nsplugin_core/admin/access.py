"""Who may reach the administration page: addresses, names, and what a caller must show (spec/core.md Administration page).

On loopback nothing is asked for; anywhere else a token or a reverse proxy's header is, and without either nothing is served.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

MIN_TOKEN: Final = 16
MAX_USER: Final = 200
LOCAL_PROXIES: Final = ("127.0.0.0/8", "::1/128")
"""Who is believed where no proxy is named: every program of this machine, plugins among them."""
_ADDRESS: Final = re.compile(r"(?:\[(?P<six>[^\[\]]+)\]|(?P<host>[^\[\]:]+)):(?P<port>[0-9]{1,5})")
_HOST_HEADER: Final = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+))(?::[0-9]{1,5})?")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
Network = IPv4Network | IPv6Network


class AccessRefused(ValueError):
    """The administration page is not served like this; the message says how it can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where the page is served and to whom. Made by :func:`access_to`.

    ``names`` are further host names that it is known by; ``proxies`` are the peers whose ``user_header`` is believed.
    """

    host: str
    port: int
    token: str | None = None
    user_header: str | None = None
    names: frozenset[str] = frozenset()
    proxies: tuple[Network, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether a caller must show anything at all."""
        return self.token is not None or self.user_header is not None

    def is_named(self, host_header: str) -> bool:
        """Whether a request was meant for this page: a name that anyone's DNS may point here is refused (DNS rebinding).

        Addresses and ``localhost`` need no DNS; any other name must be known.
        """
        match = _HOST_HEADER.fullmatch(host_header)
        name = (match["six"] or match["host"]).lower().rstrip(".") if match else ""
        return _is_address(name) or is_localhost(name) or name in self.names

    def proxied_user(self, peer: str | None, value: str | None) -> str | None:
        """The user whom a proxy names, if the peer is one that is believed."""
        if self.user_header is None or not value or not value.strip() or not self.is_proxy(peer):
            return None
        return value.strip()[:MAX_USER]

    def is_proxy(self, peer: str | None) -> bool:
        """Whether a peer's word is taken for who the user is."""
        if peer is None or not _is_address(peer):
            return False
        address = _unmapped(ip_address(peer))
        return any(address.version == network.version and address in network for network in self.proxies)


def access_to(
    address: str,
    *,
    token: str | None = None,
    user_header: str | None = None,
    names: Iterable[str] = (),
    proxies: Iterable[str] = (),
) -> Access:
    """The access that the options of ``serve`` describe. Raises :class:`AccessRefused`."""
    host, port = parsed_address(address)
    if token is None and user_header is None and not is_loopback(host):
        raise AccessRefused(_unprotected(host))
    known = {_checked_name(name) for name in names} | {host.lower()}
    return Access(
        host=host,
        port=port,
        token=None if token is None else _checked_token(token),
        user_header=None if user_header is None else _checked_header(user_header),
        names=frozenset(known),
        proxies=tuple(_checked_network(each) for each in tuple(proxies) or LOCAL_PROXIES),
    )


def parsed_address(address: str) -> tuple[str, int]:
    """Host and port of ``127.0.0.1:8080``, ``localhost:8080`` or ``[::1]:8080``. Raises :class:`AccessRefused`."""
    match = _ADDRESS.fullmatch(address.strip())
    if match is None or int(match["port"]) > 65535:
        raise AccessRefused(f"{address!r} is no HOST:PORT for the administration page; write 127.0.0.1:8080, or [::1]:8080")
    host = match["six"] or match["host"]
    if not host.isascii():
        raise AccessRefused(f"{host!r} can't be listened at: write the name as DNS has it (xn--...), or 127.0.0.1:8080")
    if match["six"] and not _is_address(host):
        raise AccessRefused(f"{host!r} is no IPv6 address; write [::1]:8080")
    return host, int(match["port"])


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that host."""
    return ip_address(host).is_loopback if _is_address(host) else is_localhost(host.lower())


def is_localhost(name: str) -> bool:
    """``localhost`` and the names below it, which never leave the machine (RFC 6761)."""
    return name == "localhost" or name.endswith(".localhost")


def _unprotected(host: str) -> str:
    return (
        f"the administration page would be open to everyone who reaches {host}: give --admin-token (or NSPLUGIN_ADMIN_TOKEN),"
        " name the header in which your reverse proxy says who the user is with --trusted-user-header, or serve it on"
        " 127.0.0.1 and reach it through SSH"
    )


def _checked_token(token: str) -> str:
    if len(token) < MIN_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise AccessRefused(
            f"the administration token needs at least {MIN_TOKEN} characters of printable ASCII without spaces;"
            " make one: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return token


def _checked_header(name: str) -> str:
    if _HEADER_NAME.fullmatch(name) is None:
        raise AccessRefused(f"{name!r} is no name of an HTTP header; write for instance --trusted-user-header X-Forwarded-User")
    return name


def _checked_name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise AccessRefused(f"{name!r} is no host name; write for instance --admin-name jobs.example.org, without a port")
    return name.lower()


def _checked_network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError:
        raise AccessRefused(
            f"{text!r} is no address of a proxy; write --trusted-proxy 10.0.0.5, or a network such as 10.0.0.0/24"
        ) from None


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _unmapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """A dual-stack socket shows IPv4 peers as ``::ffff:10.0.0.5``."""
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
