"""Timers, event loops and endless loops that loading a module starts (spec/nextskin.md D1)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Final

from nsplugin.lazy import pattern
from nsplugin.spans import Span
from nsplugin_cli.facts import Timer
from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_uses import last_name, origins
from nsplugin_cli.source.python_values import External, truth

_LIBRARIES: Final = frozenset(("threading", "asyncio", "sched", "signal", "itertools"))
_IDLE: Final = (sys.stdlib_module_names - _LIBRARIES) | {"nsplugin", "pydantic", "__future__"}
"""Modules that start nothing."""
_LOOP: Final = r"asyncio\.(?:get_event_loop|new_event_loop|get_running_loop)\(\)"
_STARTS: Final = pattern(
    "|".join(
        (
            r"(threading\.Timer)\(\)\.start",
            r"(asyncio\.(?:run|create_task|ensure_future))",
            rf"{_LOOP}\.(call_later|call_at|call_soon|create_task|run_forever|run_until_complete)",
            r"(sched\.scheduler)\(\)\.(?:enter|enterabs|run)",
            r"(schedule\.(?:every|run_pending|run_all))",
            r"schedule\.(Scheduler)\(\)\.(?:every|run_pending|run_all)",
            r"apscheduler\.[\w.]*\.(\w*Scheduler)\(\)\.(?:start|add_job|add_schedule|scheduled_job|start_in_background)",
            r"(signal\.(?:setitimer|alarm))",
            r"((?:trio|anyio)\.run)",
            r"tornado\.ioloop\.(PeriodicCallback)\(\)\.start",
            r"twisted\.internet\.task\.(LoopingCall)\(\)\.start",
            r"twisted\.internet\.(reactor\.callLater)",
            r"(aiocron\.crontab)",
        )
    )
)
"""Calls that start a timer, by dotted name; the one group is what a message calls it."""
_WAYS_OUT: Final = frozenset(("exit", "_exit", "quit", "abort"))


def timers(evaluator: Evaluator, module: Module) -> Iterator[Timer]:
    """What loading the module starts, in the order of the source. Imports tell whether there may be any."""
    if "while" not in module.text.source and origins(module.root, module) <= _IDLE:
        return
    found: list[Timer] = []
    for scope in _loaded(module.root):
        for call in scope.calls:
            what = _started(evaluator, module, scope, call)
            if what is not None:
                found.append(Timer(what=what, path=module.path, span=module.text.span(call)))
        found.extend(_endless(evaluator, module, scope))
    yield from sorted(found, key=lambda timer: timer.span)


def _loaded(root: Scope) -> Iterator[Scope]:
    """The scopes whose code runs when the module is loaded."""
    pending = [root]
    while pending:
        scope = pending.pop()
        yield scope
        pending.extend(child for child in scope.children if child.kind == "class")


def _started(evaluator: Evaluator, module: Module, scope: Scope, call: ast.Call) -> str | None:
    data = evaluator.value(call.func, module, scope).data
    if not isinstance(data, External):
        return None
    match = _STARTS.fullmatch(data.name)
    return None if match is None else match[match.lastindex or 0]


def _endless(evaluator: Evaluator, module: Module, scope: Scope) -> Iterator[Timer]:
    for loop in scope.loops:
        head = loop.test if isinstance(loop, ast.While) else loop.iter
        goes_on = _always(evaluator, module, scope, loop)
        if goes_on and not any(_leaves(node) for node in _inside(loop)):
            start, end = module.text.start(loop), module.text.span(head)
            span = Span(start.line, start.column, end.end_line, end.end_column)
            yield Timer(what="an endless loop", path=module.path, span=span)


def _always(evaluator: Evaluator, module: Module, scope: Scope, loop: ast.While | ast.For | ast.AsyncFor) -> bool:
    if isinstance(loop, ast.While):
        return isinstance(loop.test, ast.Constant) and truth(loop.test.value) is True
    if not isinstance(loop.iter, ast.Call):
        return False
    data = evaluator.value(loop.iter, module, scope).data
    return data == External("itertools.count()") or (data == External("itertools.repeat()") and len(loop.iter.args) == 1)


def _inside(loop: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a loop's body that belong to it: not those of functions, nor a ``break`` of a loop inside it."""
    pending = list(ast.iter_child_nodes(loop))
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            pending.extend(inner for inner in _inside(node) if not isinstance(inner, ast.Break))
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


def _leaves(node: ast.AST) -> bool:
    """Whether a loop may be left here."""
    return isinstance(node, (ast.Break, ast.Raise)) or (isinstance(node, ast.Call) and last_name(node.func) in _WAYS_OUT)
