"""What starts while a TypeScript module is loaded: timers, schedulers and endless loops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin.spans import Span
from nsplugin_cli.facts import Timer
from nsplugin_cli.source.typescript_loading import at_top_level
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import FUNCTIONS
from nsplugin_cli.source.typescript_origins import Origins
from nsplugin_cli.source.typescript_tree import plain
from nsplugin_cli.source.typescript_uses import used_as_value

_MOST_MODULES: Final = 50
_WORDS: Final = (b"setInterval", b"setTimeout")
_LIBRARIES: Final = frozenset(
    (
        "timers",
        "timers/promises",
        "node-cron",
        "node-schedule",
        "cron",
        "croner",
        "bree",
        "agenda",
        "toad-scheduler",
        "later",
        "@breejs/later",
        "@hokify/agenda",
    )
)
_STARTS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\.(setInterval|setTimeout)",
        r"timers(?:/promises|\.promises)?\.(setInterval|setTimeout|scheduler\.wait)",
        r"(node-cron\.schedule)",
        r"(node-schedule\.scheduleJob)",
        r"cron\.(CronJob)(?:\.from)?\.\(\)\.start",
        r"(cron\.CronJob(?:\.from)?)",
        r"(croner\.Cron)",
        r"(?:bree|(?:@hokify/)?agenda)(?:\.(Bree|Agenda))?\.\(\)\.start",
        r"toad-scheduler\.(ToadScheduler)\.\(\)\.add\w*Job",
        r"((?:@breejs/)?later\.(?:setInterval|setTimeout))",
    )
)
"""Calls that start a timer, by where what they call comes from; the group is what a message calls it."""
_IF_TOLD: Final = {
    "cron.CronJob": re.compile(r"\bstart\s*:\s*true\b|\A\((?:[^,]*,){3}\s*true\b"),
    "cron.CronJob.from": re.compile(r"\bstart\s*:\s*true\b"),
    "croner.Cron": re.compile(r"\A(?!.*\bpaused\s*:\s*true).*(?:=>|\bfunction\b)", re.DOTALL),
    "node-cron.schedule": re.compile(r"\A(?!.*\bscheduled\s*:\s*false)", re.DOTALL),
}
"""What the arguments of some must say for them to start at once."""


def timers(module: Module, origins: Origins) -> Iterator[Timer]:
    """What starts while the module and those of the repository that it imports are loaded (spec/nextskin.md D1)."""
    loaded = _loaded(module, origins)
    if any(map(_may_start, loaded)):
        for each in loaded:
            yield from _started(each, origins)
    for each in loaded:
        for loop in each.captured.get("loop", ()):
            if _endless(each, loop) and at_top_level(each, loop):
                start = each.position(loop.start_byte)
                keyword = each.text(loop.children[0])
                span = Span(start.line, start.column, start.line, start.column + len(keyword))
                yield Timer(what="an endless loop", path=each.path, span=span)


def _loaded(module: Module, origins: Origins) -> list[Module]:
    """The module and what it imports, and so on; each once."""
    found = {module.path: module}
    pending = [module]
    while pending:
        importing = pending.pop()
        for source, locals_ in importing.names.modules:
            imported = origins.resolve(source, importing.path)
            if imported is None or imported.path in found or len(found) >= _MOST_MODULES:
                continue
            if not locals_ or any(used_as_value(importing, name) for name in locals_):
                found[imported.path] = imported
                pending.append(imported)
    return list(found.values())


def _may_start(module: Module) -> bool:
    """A quick look: most modules name nothing that starts timers."""
    if any(word in module.data for word in _WORDS):
        return True
    return any(source.removeprefix("node:") in _LIBRARIES for source, _ in module.names.modules)


def _started(module: Module, origins: Origins) -> Iterator[Timer]:
    for call in module.captured.get("call", ()):
        called = call.child_by_field_name("function") or call.child_by_field_name("constructor")
        if called is None or not at_top_level(module, call):
            continue
        origin = origins.of(module, called)
        what = _what(module, call, ".".join(origin)) if isinstance(origin, tuple) else None
        if what is not None:
            yield Timer(what=what, path=module.path, span=module.span(call))


def _what(module: Module, call: Node, origin: str) -> str | None:
    """What a call starts, by the dotted name of what it calls."""
    matches = (pattern.fullmatch(origin) for pattern in _STARTS)
    what = next((match[1] or match[0].partition(".")[0] for match in matches if match is not None), None)
    told = _IF_TOLD.get(what or "")
    arguments = call.child_by_field_name("arguments")
    if told is not None and (arguments is None or told.search(module.text(arguments)) is None):
        return None
    return what


def _endless(module: Module, loop: Node) -> bool:
    condition = loop.child_by_field_name("condition")
    text = module.text(plain(condition)).strip("();") if condition is not None else ""
    always = text in ("true", "1", "!0", "!false") or (loop.type == "for_statement" and text == "")
    return always and not _is_left(module, loop)


_LOOPS: Final = frozenset(("while_statement", "do_statement", "for_statement", "for_in_statement"))


def _is_left(module: Module, loop: Node) -> bool:
    """Whether something in a loop may end it: a ``break`` of an inner loop or ``switch`` does not, unless it names another."""
    pending = [(child, False) for child in loop.named_children]
    while pending:
        node, within = pending.pop()
        if node.type in ("return_statement", "throw_statement"):
            return True
        if node.type in ("break_statement", "continue_statement"):
            if node.named_child_count or (node.type == "break_statement" and not within):
                return True
        elif node.type == "call_expression" and module.text(node).startswith(("process.exit", "process.abort", "exit(")):
            return True
        if node.type not in FUNCTIONS:
            inside_other = within or node.type in _LOOPS or node.type == "switch_statement"
            pending.extend((child, inside_other) for child in node.named_children)
    return False
