"""One run of ``lint``: files → verdicts → ignores → selection → report."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from nsplugin.record import record, replace
from nsplugin.rules._family import Problem
from nsplugin.rules.identity import problem
from nsplugin_cli import sources
from nsplugin_cli.diagnostic import Diagnostic, Report, WrongCall, ordered
from nsplugin_cli.facts import Ignore
from nsplugin_cli.lint import examining, files, workers
from nsplugin_cli.lint.examining import Task, UnreadFile, Verdict
from nsplugin_cli.lint.judging import Judged, read_source
from nsplugin_cli.lint.places import Places
from nsplugin_cli.progress import track
from nsplugin_cli.project import FILE_NAMES
from nsplugin_cli.source.suppress import silence

if TYPE_CHECKING:
    from nsplugin.spans import Span
    from nsplugin_cli.lint.cache import Cache
    from nsplugin_cli.lint.fixing import Mended

STDIN = "-"
UNKNOWN_JOB = "NSP304"


@record(kw_only=False)
class Options:
    """What the command line asks for. ``stdin``: the text to lint in place of the file ``paths`` then names."""

    paths: tuple[str, ...]
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    cache: bool = True
    stdin: bytes | None = None


@record(kw_only=False)
class Outcome:
    """What a run found: the report; by absolute path the problems that count; the files and folders not read, and why.

    ``lacking``: how many files need an extra that is not installed.
    """

    report: Report
    problems: dict[str, list[Problem]]
    tasks: dict[str, Task]
    unread: tuple[tuple[str, str], ...] = ()
    lacking: int = 0


def options(
    paths: Sequence[str], *, select: str, ignore: str, cache: bool, stdin: bytes | None = None, name: str | None = None
) -> Options:
    """The call, checked. Raises :class:`WrongCall` for paths that do not exist and codes that no rule has."""
    if stdin is None and STDIN in paths:
        raise WrongCall("- is standard input, and takes no other path beside it: lint the files in another call")
    for path in paths:
        if path != STDIN and not os.path.lexists(path):
            raise WrongCall(f"there is no {path}" if path else "a path is empty: name a file or a folder")
    if stdin is not None:
        paths = [name or "stdin.py"]
    from nsplugin_cli.lint import selection

    return Options(
        paths=tuple(paths) or (".",),
        select=selection.codes(select.split(","), "--select"),
        ignore=selection.codes(ignore.split(","), "--ignore"),
        cache=cache and stdin is None,
        stdin=stdin,
    )


def lint(asked: Options) -> Outcome:
    """Judge all files at the paths. Nothing is run or imported."""
    return Run(asked).outcome()


def mend(asked: Options, outcome: Outcome) -> list[Mended]:
    """What is safe to mend of what a run found. Nothing is written."""
    run = Run(asked)
    hopeful = [path for path, found in outcome.problems.items() if any(each.fix is not None for each in found)]
    mended = (run.mended(outcome.tasks[path]) for path in hopeful if path in outcome.tasks)
    return [each for each in mended if each is not None]


def after(asked: Options, mended: Sequence[Mended]) -> Options:
    """The same call once the changes are made: standard input is then what they made of it."""
    return asked if asked.stdin is None or not mended else replace(asked, stdin=mended[0].after)


class Run:
    """One run in the making."""

    def __init__(self, asked: Options) -> None:
        self.asked = asked
        folders = [os.path.abspath(path) for path in asked.paths if os.path.isdir(path)]
        self.walked = bool(folders)
        self.places = Places([os.getcwd(), *folders], asked.select, asked.ignore)
        files = [path for path in asked.paths if os.path.basename(path) in FILE_NAMES and os.path.isfile(path)]
        for folder in (*folders, *(os.path.abspath(os.path.dirname(file)) for file in files)):  # even without sources it counts
            self.places.project(folder)
        self.cache = _cache() if asked.cache else None
        self.verdicts: dict[str, Verdict] = {}
        self.unread: list[tuple[str, str]] = []
        examining.forget()

    def outcome(self) -> Outcome:
        tasks = {task.path: task for task in map(self._task, files.sources(self.asked.paths, self._skip))}
        self._judge(list(tasks.values()))
        counted = {path: found for path, found in self._counted() if found}
        diagnostics = [_diagnostic(problem, path) for path, found in counted.items() for problem in found]
        diagnostics += list(self._faults())
        report = Report(
            command="lint",
            files=len(self.verdicts),
            diagnostics=ordered(diagnostics),
            sources=self._texts([*counted, *(str(project.file) for project, _, _ in self.places.faulty())]),
        )
        lacking = sum(verdict.judged.lacking for verdict in self.verdicts.values())
        return Outcome(report=report, problems=counted, tasks=tasks, unread=tuple(self.unread), lacking=lacking)

    def mended(self, task: Task) -> Mended | None:
        """The mended form of one file, if it has anything that is safe to mend."""
        try:
            data = examining.read(task.path) if self.asked.stdin is None else self.asked.stdin
        except UnreadFile:
            return None

        def counting(judged: Judged) -> list[Problem]:
            own = [each for each in judged.problems if each.path in (None, task.path)]
            return [each for each in silence(own, judged.ignores).problems if self.places.takes(each.code, task.path)]

        from nsplugin_cli.lint import fixing

        return fixing.mend(task.path, data, lambda new: examining.examine(task, new).judged, counting)

    def _task(self, path: str) -> Task:
        absolute = os.path.abspath(path)  # resolve() would follow links
        folder = os.path.dirname(absolute)
        return Task(absolute, self.places.root(folder), self.places.setting(folder))

    def _skip(self, folder: str, why: str) -> None:
        self.unread.append((os.path.abspath(folder), why))

    def _judge(self, tasks: list[Task]) -> None:
        if self.asked.stdin is not None:
            self._judge_text(tasks[0], self.asked.stdin)
            return
        left = [task for task in tasks if not self._known(task)]
        for (task, result), _ in zip(workers.results(left), track(left, "linting"), strict=True):
            self._take(task, result)
        if self.cache is not None:
            self.cache.save()

    def _judge_text(self, task: Task, data: bytes) -> None:
        try:
            examining.require_source(task.path, data)
        except UnreadFile as error:
            self.unread.append((task.path, str(error)))
        else:
            self.verdicts[task.path] = examining.examine(task, data)

    def _known(self, task: Task) -> bool:
        verdict = None
        if self.cache is not None and self.cache.may_know(task):
            try:
                verdict = self.cache.look_up(task, examining.read(task.path))
            except UnreadFile:
                return False
        if verdict is not None:
            self.verdicts[task.path] = verdict
        return verdict is not None

    def _take(self, task: Task, result: Verdict | str) -> None:
        if isinstance(result, str):
            self.unread.append((task.path, result))
            return
        self.verdicts[task.path] = result
        if self.cache is not None:
            self.cache.store(task, result)

    def _counted(self) -> Iterator[tuple[str, list[Problem]]]:
        """Each file's findings that no ignore silences and that are selected."""
        found: dict[str, set[Problem]] = defaultdict(set)
        wholes = self._wholes()
        for path, verdict in self.verdicts.items():
            found[path] |= set()
            for each in verdict.judged.problems:
                if each.code != UNKNOWN_JOB or (each.path or path, each.span) not in wholes[path]:
                    found[each.path or path].add(each)
        self._say_once(found)
        for path, problems in found.items():
            ignores = self._ignores(path)
            left = silence(problems, ignores) if ignores else None
            kept = problems if left is None else left.problems
            idle = () if left is None else self._needless(path, left.needless)
            yield path, [each for each in (*kept, *idle) if self.places.takes(each.code, path)]

    def _wholes(self) -> dict[str, set[tuple[str, Span | None]]]:
        """By each module that an importer took into its own list: the names of jobs that the importer judged: it knows more."""
        known: dict[str, set[tuple[str, Span | None]]] = defaultdict(set)
        naming = [path for path, verdict in self.verdicts.items() if verdict.judged.named]
        for path in sorted(naming, key=self._is_no_entry):
            for asked in self.verdicts[path].asked:
                if asked.path not in (None, path) and not known[path]:  # of two that import each other, one is the whole
                    known[asked.path] |= set(self.verdicts[path].judged.named)
        return known

    def _say_once(self, found: dict[str, set[Problem]]) -> None:
        """What a module lacks and its importer lacks too is said of the importer: the two are one plugin."""
        lacking = {path: each for path, problems in found.items() if (each := set(filter(_lacks_key, problems)))}
        for path in sorted(lacking, key=self._is_no_entry) if len(lacking) > 1 else ():
            for asked in self.verdicts[path].asked if lacking[path] & found[path] else ():
                if asked.path in lacking and asked.path != path:
                    found[asked.path] -= lacking[asked.path]

    def _is_no_entry(self, path: str) -> bool:
        return path != self.places.setting(os.path.dirname(path)).entry

    def _ignores(self, path: str) -> tuple[Ignore, ...]:
        """A file's ignores; those of a module that only an import led to are read now."""
        if path in self.verdicts:
            return self.verdicts[path].judged.ignores
        try:
            return read_source(examining.read(path), path, None).ignores
        except UnreadFile:
            return ()

    def _needless(self, path: str, ignores: Iterable[Ignore]) -> list[Problem]:
        """A module may be silenced because of who imports it: alone, it does not show which of its ignores are needed."""
        from nsplugin_cli.rule_names import codes_by_name
        from nsplugin_cli.rules.ignores import needless

        verdict = self.verdicts.get(path)
        whole = self.walked or (verdict is not None and verdict.judged.definitions > 0)
        idle = [ignore for ignore in ignores if whole or ignore.fault is not None]
        return needless(idle, codes_by_name())

    def _faults(self) -> Iterator[Diagnostic]:
        """What is wrong with the project files."""
        for project, code, faults in self.places.faulty():
            for fault in faults if self.places.takes(code, str(project.file)) else ():
                yield _diagnostic(problem(code, fault), str(project.file))

    def _texts(self, paths: Iterable[str]) -> dict[str, str]:
        """The text of each file that a finding stands in, by its shown path."""
        texts = {}
        for path in paths:
            own = self.asked.stdin if self.asked.stdin is not None and path in self.verdicts else None
            text = sources.text(path) if own is None else sources.text_of(own)
            texts[sources.shown(path)] = text.source
        return texts


def _cache() -> Cache:
    from nsplugin_cli.lint.cache import Cache

    return Cache()


def _lacks_key(problem: Problem) -> bool:
    """Whether a key of the whole manifest is missing, such as its id."""
    return problem.code == "NSP008" and problem.pointer == ""


def _diagnostic(found: Problem, path: str) -> Diagnostic:
    return Diagnostic.of(replace(found, path=None), sources.shown(path))
