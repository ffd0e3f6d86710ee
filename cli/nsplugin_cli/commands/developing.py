"""What ``dev`` builds, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from nsplugin_cli import terminal
from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin.runtime.providers import Providers
    from nsplugin_core.development import ReadyPlugin


PROVIDERS_HELP: Final = "What answers for records, messages and the like; default: stand-ins (docs/providers.md)."
SYSTEM_HELP: Final = "Let runs without a user use data (the project's identity policy)."


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
    around = [target.project.folder.resolve() for target in discover([path])]
    return next((project for project in around if folder.is_relative_to(project)), folder)


def timezone(folder: Path, wanted: str | None) -> str:
    """The site's zone: as wanted, else the project file's, else UTC. Raises ``WrongCall``."""
    from nsplugin.cron import ZoneError, zone
    from nsplugin_cli import project

    own = project.find(folder)
    name = wanted or (own.get("timezone") if own is not None else None) or "UTC"
    try:
        return zone(name).name
    except ZoneError as error:
        raise WrongCall(f"--timezone: {error}") from error


def builder(path: Path, color: terminal.Color, stream: TextIO) -> Callable[[], Sequence[ReadyPlugin] | None]:
    """Builds the plugins at a path; shows what is wrong with them and returns ``None`` then."""
    from nsplugin_cli.commands import building
    from nsplugin_cli.report import text
    from nsplugin_core.development import ReadyPlugin

    def build() -> Sequence[ReadyPlugin] | None:
        try:
            return [ReadyPlugin(manifest=each.manifest, folder=each.folder) for each in building.built([path])]
        except building.Unfit as unfit:
            stream.write(text.render(unfit.report, color=terminal.colored(color, stream)))
        except WrongCall as error:
            stream.write(f"Error: {error}\n")
        return None

    return build
