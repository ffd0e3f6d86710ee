"""Which plugins a command means by the paths that it was given: project files, entries, guesses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from nsplugin.record import record
from nsplugin.rules._family import Found
from nsplugin_cli import project as projects
from nsplugin_cli.diagnostic import WrongCall
from nsplugin_cli.project import Project
from nsplugin_cli.project_keys import SCRIPTS, entry_parts, entry_script, kind
from nsplugin_cli.source.folders import walk

GUESSES: Final = ("plugin.py", "main.py")
MARKS: Final = (b"define_plugin", b"define_job")
TYPESCRIPT: Final = SCRIPTS
SKIPPED: Final = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist", "venv"})
MAX_FOLDERS: Final = 50_000
MAX_GUESS_BYTES: Final = 1 << 20
MAX_NAMES: Final = 200


@record
class Target:
    """One plugin to build. ``module`` is imported from the project's folder; ``file`` is the entry's file if it is known.

    ``missing``: why there is no entry, or none to build (message and hint), else ``None``.
    """

    project: Project
    module: str = ""
    attribute: str | None = None
    file: str | None = None
    missing: tuple[str, str] | None = None

    @property
    def stem(self) -> str:
        """The last part of the module's name: what the manifest's file is called after."""
        return self.module.rpartition(".")[2] or "plugin"

    @property
    def missing_entry(self) -> Found | None:
        """What is found (NSP002) where there is no entry to build, at its place in the project file."""
        if self.missing is None:
            return None
        message, hint = self.missing
        return Found(pointer="/entry", message=message, hint=hint, span=self.project.spans.get("entry"))

    @property
    def place(self) -> str:
        """The path to blame when nothing more exact is known."""
        file = self.file if self.missing is None else None
        return file or self.project.file or self.project.folder


def discover(paths: Iterable[str | os.PathLike[str]]) -> list[Target]:
    """The plugins at the paths (existing files and folders), each once, in the order given.

    Raises :class:`WrongCall` for a path that cannot be looked at or that is no Python.
    """
    here, found = os.getcwd(), dict[tuple[str, str, str | None], Target]()
    for path in paths:
        try:
            for target in _at(os.path.normpath(os.path.join(here, path))):
                found.setdefault((target.project.folder, target.module, target.attribute), target)
        except OSError as error:
            raise WrongCall(f"cannot look at {path}: {error.strerror}") from error
    return list(found.values())


def _at(path: str) -> Iterator[Target]:
    if os.path.isfile(path):
        yield _of_file(path)
        return
    target = _of_folder(path)
    if target is not None:
        yield target
        return
    below = list(_below(path)) if os.path.isdir(path) else []
    if below:
        yield from below
        return
    above = projects.find(path)
    yield of_project(above) if above else Target(project=Project(folder=path), missing=_nothing(path))


def _of_file(path: str) -> Target:
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    if name in projects.FILE_NAMES:
        return of_project(projects.read(path))
    if suffix != ".py":
        raise WrongCall(f"{name} is {_OTHERS.get(suffix, 'no plugin: name a folder, a project file or a .py file')}")
    above = projects.find(folder)
    if above is not None:
        configured = of_project(above)
        if configured.file == path:
            return configured
    if "." in stem:
        raise WrongCall(f"{name} cannot be imported: its name has a dot, write {stem.replace('.', '_')}.py")
    project = above or Project(folder=folder)
    module = os.path.splitext(os.path.relpath(path, project.folder))[0].replace(os.sep, ".")
    return Target(project=project, module=module, file=path)


_ELSEWHERE: Final = "built by its platform's own tools: nsplugin builds Python"
_LINTED: Final = "nsplugin lint reads TypeScript and JavaScript"
_OTHERS: Final = {
    ".json": "no source: to judge a manifest, use nsplugin check",
    **dict.fromkeys(TYPESCRIPT, _ELSEWHERE),
}


def _of_folder(folder: str) -> Target | None:
    project = projects.at(folder)
    if project is not None:
        return of_project(project)
    guessed = guess(folder)
    return None if guessed is None else Target(project=Project(folder=folder), module=stem(guessed), file=guessed)


def stem(path: str) -> str:
    """The name of a file without its ending."""
    return os.path.splitext(os.path.basename(path))[0]


def _below(folder: str) -> Iterator[Target]:
    for name, inner, _ in walk(folder, MAX_FOLDERS, _skip):
        target = None if name == folder else _of_folder(name)
        if target is not None and (target.project.file or _defines(target.file)):
            yield target
            inner.clear()
        inner[:] = sorted(entry for entry in inner if entry not in SKIPPED and not entry.startswith("."))


def _skip(folder: str, why: str) -> None:
    from nsplugin_cli import terminal

    terminal.say(f"{os.path.relpath(folder)} was skipped: {why}")


def of_project(project: Project) -> Target:
    """The plugin of a project file: its ``entry``, or a guess beside it."""
    entry = project.get("entry")
    if entry is None:
        guessed = guess(project.folder)
        if guessed is None:
            return Target(project=project, missing=_nothing(project.folder))
        return Target(project=project, module=stem(guessed), file=guessed)
    module, attribute = entry_parts(entry) or ("", None)
    file = module_file(project.folder, module)
    script = None if file else entry_script(entry)  # a module may be called pkg.js
    if script is not None:
        return _of_script(project, script)
    if file is None and entry.partition(":")[0].endswith(".py"):
        return Target(project=project, module=module, attribute=attribute, missing=_no_file(project.folder, entry))
    return Target(project=project, module=module, attribute=attribute, file=file)


def _of_script(project: Project, path: str) -> Target:
    file = os.path.join(project.folder, path)
    if not os.path.isfile(file):
        return Target(project=project, module=stem(path), missing=_no_file(project.folder, path))
    return Target(project=project, module=stem(path), file=file, missing=(f'the entry "{path}" is {_ELSEWHERE}', _LINTED))


def module_file(folder: str | os.PathLike[str], module: str) -> str | None:
    """The file of a module that lies below the folder, else ``None``."""
    path = os.path.join(folder, *module.split("."))
    candidates = (path + ".py", os.path.join(path, "__init__.py"))
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), None)


def guess(folder: str) -> str | None:
    """The file of a folder that is its entry when none is named."""
    return next(filter(os.path.isfile, (os.path.join(folder, name) for name in GUESSES)), None)


def _defines(path: str | None) -> bool:
    if path is None:
        return False
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_GUESS_BYTES)
    except OSError:
        return False
    return any(mark in data for mark in MARKS)


def _nothing(folder: str) -> tuple[str, str]:
    wanted = ", ".join((projects.FILE_NAMES[0], *GUESSES))
    return f"there is no plugin here: no {wanted}", f"start one with: nsplugin init {os.path.basename(folder) or '.'}"


def _no_file(folder: str, entry: str) -> tuple[str, str]:
    from nsplugin.nearest import closest

    name = entry.partition(":")[0]
    path, endings = os.path.join(folder, name), TYPESCRIPT if name.lower().endswith(TYPESCRIPT) else (".py",)
    if os.path.exists(path):
        return f'the entry "{name}" is {kind(path)}', "name a Python file" if endings == (".py",) else "name a file"
    meant = closest(name, _alike(folder, name, endings))
    hint = f'did you mean "{meant}"?' if meant else "the entry is a path from the project file's folder"
    return f'the entry "{name}" does not exist', hint


def _alike(folder: str, name: str, endings: tuple[str, ...]) -> list[str]:
    """The files of these endings, as an entry names them, in the folder that is named and in the project's."""
    alike: list[str] = []
    for inner in dict.fromkeys((os.path.dirname(name), "")):
        with suppress(OSError, ValueError), os.scandir(os.path.join(folder, inner)) as entries:
            fit = (os.path.join(inner, each.name) for each in entries if each.name.lower().endswith(endings))
            alike += sorted(islice(fit, MAX_NAMES))
    return alike
