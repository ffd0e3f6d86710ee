"""The warnings of a build that its author has switched off. Errors stay: a host would refuse such a manifest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nsplugin.rules._family import Problem
    from nsplugin_cli.project import Project


def without_unwanted(found: Iterable[tuple[str, Problem]], project: Project) -> Iterator[tuple[str, Problem]]:
    """The findings, but for warnings that the project file does not select or that a comment on their line ignores."""
    for path, problem in found:
        if problem.severity == "error" or (_is_selected(problem, path, project) and not _is_ignored(problem, path)):
            yield path, problem


def _is_selected(problem: Problem, path: str, project: Project) -> bool:
    from nsplugin_cli.lint.selection import selection

    chosen = selection(project.table, "" if project.file is None else os.path.basename(project.file), (), ())
    return chosen.takes(problem.code, os.path.relpath(path, project.folder).replace(os.sep, "/"))


def _is_ignored(problem: Problem, path: str) -> bool:
    from nsplugin_cli import sources
    from nsplugin_cli.source.suppress import python_ignores, silence

    return path.endswith(".py") and not silence([problem], python_ignores(sources.text(path).source)).problems
