"""Types of what ``serve`` is given."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin.runtime.providers import Providers


LAST_PORT: Final = (1 << 16) - 1
"""A port is a number of sixteen bits."""


def _address(value: str) -> tuple[str, int]:
    host, colon, port = value.rpartition(":")
    if not (colon and host.isascii()) or not (port.isascii() and port.isdigit() and int(port) <= LAST_PORT):
        raise click.BadParameter(f"{value!r} is no address: write HOST:PORT, such as 127.0.0.1:9464")
    return host.strip("[]") or "127.0.0.1", int(port)


ADDRESS: Final = _address


def provided(name: str | None) -> Providers:
    """The providers that ``MODULE:NAME`` holds, looked for in the current folder too. Raises :class:`WrongCall`."""
    from nsplugin.runtime.providers import Providers

    if name is None:
        return Providers()
    module, _, attribute = name.partition(":")
    if not module or module.startswith(".") or not attribute:
        raise WrongCall(f"--providers: {name!r} names nothing: write MODULE:NAME, such as shop_standins:local")
    sys.path.insert(0, str(Path.cwd()))  # and there it stays: what is imported may import more, later
    try:
        from importlib import import_module

        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise WrongCall(f"--providers: {name}: {error}") from error
    except (Exception, SystemExit) as error:
        raise WrongCall(f"--providers: importing {module} raised {type(error).__name__}: {error}") from error
    if not isinstance(found, Providers):
        raise WrongCall(f"--providers: {name} is {type(found).__name__}, where nsplugin.runtime.providers.Providers is wanted")
    return found
