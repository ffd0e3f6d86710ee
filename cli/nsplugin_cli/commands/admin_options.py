"""Where ``serve`` shows the administration page, and to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin_core.admin.access import Access

ADMIN: Final = (
    click.option("--admin", metavar="HOST:PORT", help="Show the administration page there, such as 127.0.0.1:8080."),
    click.option(
        "--admin-token",
        envvar="NSPLUGIN_ADMIN_TOKEN",
        show_envvar=True,
        metavar="TOKEN",
        help="What lets a browser in; needed beyond this machine. Better in the environment than here.",
    ),
    click.option("--trusted-user-header", metavar="NAME", help="In which header a reverse proxy names the user."),
    click.option(
        "--trusted-proxy",
        multiple=True,
        metavar="ADDRESS",
        help="Where that proxy is, if not on this machine; repeatable.",
    ),
    click.option("--admin-name", multiple=True, metavar="HOST", help="A host name the page is known by; repeatable."),
)


def admin_access(options: dict[str, Any]) -> Access | None:
    """Takes the options of :data:`ADMIN` out of a command's; ``None`` without ``--admin``. Raises :class:`WrongCall`."""
    address = options.pop("admin")
    token, header = options.pop("admin_token"), options.pop("trusted_user_header")
    proxies, names = options.pop("trusted_proxy"), options.pop("admin_name")
    if address is None:
        if header or proxies or names:
            raise WrongCall("there is no administration page to protect: name its address with --admin HOST:PORT")
        return None
    from nsplugin_core.admin.access import AccessRefused, access_to

    try:
        return access_to(address, token=token or None, user_header=header, names=names, proxies=proxies)
    except AccessRefused as error:
        raise WrongCall(f"--admin: {error}") from error
