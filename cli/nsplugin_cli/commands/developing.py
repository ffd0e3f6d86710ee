"""What ``dev`` builds, again and again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from nsplugin_cli import terminal
from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin.runtime.providers import Providers
    from nsplugin_core.development import Broken, Ready


PROVIDERS_HELP: Final = "What answers for records, messages and the like; default: stand-ins (docs/providers.md)."
SYSTEM_HELP: Final = "Let runs without a user use data (the project's identity policy)."
LAST_PORT: Final = 65_535


def standins(name: str | None) -> Providers:
    """The providers that were named, else stand-ins for all of them. Raises ``WrongCall``."""
    from nsplugin.runtime.standins import local_providers
    from nsplugin_cli.commands.serve_options import provided

    return local_providers() if name is None else provided(name)


def place(path: Path) -> Path:
    """The folder that is developed: the one given, that of the file given, or that of the project around either."""
    from nsplugin_cli.source.discover import discover

    absolute = path.resolve()
    folder = absolute if absolute.is_dir() else absolute.parent
    around = [Path(target.project.folder).resolve() for target in discover([path])]
    return next((project for project in around if folder.is_relative_to(project)), folder)


def admin_port(port: int, wanted: int | None) -> int:
    """The administration page's port: as wanted, else the one after that of the routes, any free one where there is none."""
    return wanted if wanted is not None else port + 1 if 0 < port < LAST_PORT else 0


def builder(path: Path, timezone: str | None, color: terminal.Color, stream: TextIO) -> Callable[[], Ready | Broken]:
    """Builds the plugins at a path, with the site's zone: as wanted, else the project file's. Shows what is wrong with them."""
    from nsplugin_cli.commands import building
    from nsplugin_cli.report import text
    from nsplugin_core.development import Broken, Ready, ReadyPlugin

    def build() -> Ready | Broken:
        try:
            built = building.built([path])
            plugins = [ReadyPlugin(manifest=each.manifest, folder=each.folder) for each in built]
            return Ready(plugins=plugins, timezone=building.site_zone(built, timezone))
        except building.Unfit as unfit:
            stream.write(text.render(unfit.report, color=terminal.colored(color, stream)))
            return Broken(report=text.render(unfit.report, color=False))
        except WrongCall as error:
            stream.write(f"Error: {error}\n")
            return Broken(report=f"{error}\n")

    return build
