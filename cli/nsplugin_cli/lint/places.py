"""Where a linted file belongs: its project file, and the root below which its imports and the cache lie."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

from nsplugin.platforms import every, load
from nsplugin.pointers import UNKNOWN
from nsplugin.record import replace
from nsplugin.rules._family import Found
from nsplugin_cli import project as projects
from nsplugin_cli.diagnostic import CONFIG_CODE
from nsplugin_cli.lint.judging import Setting
from nsplugin_cli.lint.selection import Selection, selection
from nsplugin_cli.project import Project
from nsplugin_cli.source.discover import TYPESCRIPT, Target, guess, of_project, stem

FoundT = TypeVar("FoundT")


def _setting(project: Project) -> Setting:
    """What is wrong with a project file is said once: what it meant to give is then unknown, and not missing."""
    target = of_project(project)
    known = _entry_of(target, sure=project.get("entry") is not None or target.stem == "plugin")
    entry = Setting() if project.faults else known
    unknown = {"id": UNKNOWN, "version": UNKNOWN} if project.faults else {}
    return replace(
        entry,
        identity={**unknown, **project.identity},
        timezone=project.get("timezone"),
        path=project.file,
        spans={key: span for key, span in project.spans.items() if key in project.identity},
    )


def _without_project(folder: str) -> Setting:
    """Without a project file, an entry is a file of the right name that defines something."""
    entry = guess(folder)
    if entry is None:
        return Setting()
    return _entry_of(Target(project=Project(folder=folder), module=stem(entry), file=entry), sure=False)


def _entry_of(target: Target, *, sure: bool) -> Setting:
    if target.file is None:
        return Setting()
    if target.file.lower().endswith(TYPESCRIPT):
        return Setting(entry=target.file)
    platform = target.project.get("platform")
    platforms = every() if platform is None else (load(platform),)
    wanted = (target.attribute,) if target.attribute else tuple(each.layout.attribute for each in platforms)
    return Setting(entry=target.file, module=target.module, wanted=wanted, sure=sure)


def _nearest(folder: str, known: dict[str, FoundT | None], look: Callable[[str], FoundT | None]) -> FoundT | None:
    """What the nearest folder at or above one has. ``known``: the answers so far, which grow."""
    passed: list[str] = []
    found: FoundT | None = None
    while found is None and folder not in known and folder not in passed[-1:]:
        found = look(folder)
        passed.append(folder)
        folder = os.path.dirname(folder)
    found = known.get(folder) if found is None else found
    known.update(dict.fromkeys(passed, found))
    return found


class Places:
    """Answers for folders (absolute paths), each looked at once in a run.

    ``bases``: where a file that lies in no repository and no project belongs, in this order. ``select`` and ``ignore``: the
    command line's.
    """

    def __init__(self, bases: Iterable[str], select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> None:
        self._bases = [base.rstrip("/") or "/" for base in bases]
        self._select, self._ignore = select, ignore
        self._projects: dict[str, Project | None] = {}
        self._repositories: dict[str, str | None] = {}
        self._settings: dict[str, Setting] = {}
        self._roots: dict[str, str] = {}
        self._selections: dict[str, tuple[str, Selection]] = {}

    def project(self, folder: str) -> Project | None:
        """The nearest project file upward, read (spec/cli.md Project file)."""
        return _nearest(folder, self._projects, projects.at)

    def setting(self, folder: str) -> Setting:
        """What the rules need of the project file."""
        if folder not in self._settings:
            project = self.project(folder)
            self._settings[folder] = _without_project(folder) if project is None else _setting(project)
        return self._settings[folder]

    def root(self, folder: str) -> str:
        """The repository around a folder; without one the project's folder, the first base around it, or the folder itself."""
        if folder not in self._roots:
            self._roots[folder] = self._repository(folder) or self._fallback(folder)
        return self._roots[folder]

    def _repository(self, folder: str) -> str | None:
        return _nearest(folder, self._repositories, lambda each: each if os.path.exists(f"{each}/.git") else None)

    def _fallback(self, folder: str) -> str:
        project = self.project(folder)
        if project is not None:
            return project.folder
        return next((base for base in self._bases if folder == base or folder.startswith(base.rstrip("/") + "/")), folder)

    def takes(self, code: str, path: str) -> bool:
        """Whether a finding in the file of that absolute path counts."""
        base, chosen = self._selection(os.path.dirname(path))
        return chosen.takes(code, os.path.relpath(path, base).replace(os.sep, "/"))

    def _selection(self, folder: str) -> tuple[str, Selection]:
        if folder not in self._selections:
            project = self.project(folder)
            table = {} if project is None else project.table
            base = folder if project is None else project.folder
            name = "" if project is None or project.file is None else os.path.basename(project.file)
            self._selections[folder] = base, selection(table, name, self._select, self._ignore)
        return self._selections[folder]

    def faulty(self) -> list[tuple[Project, str, tuple[Found, ...]]]:
        """The project files met so far with something wrong, each once: a code and what is found (NSP001, NSP002)."""
        met = {project.file: project for project in self._projects.values() if project is not None}
        faulty = [(project, CONFIG_CODE, project.faults) for project in met.values() if project.faults]
        sound = [project for project in met.values() if not project.faults and project.get("entry") is not None]
        lost = [target for target in map(of_project, sound) if target.file is None]
        missing = [(target.project, target.missing_entry) for target in lost]
        return faulty + [(project, "NSP002", (found,)) for project, found in missing if found is not None]
