"""What starts while a TypeScript module is loaded: timers, schedulers and endless loops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin.spans import Span
from nsplugin_cli.facts import Timer
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
            if _endless(each, loop) and _at_top_level(each, loop):
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
        if called is None or not _at_top_level(module, call):
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


def _at_top_level(module: Module, node: Node) -> bool:
    """Whether a node runs when the module is loaded: in no function (but one called on the spot), behind no test for "main"."""
    inner, around = node, node.parent
    while around is not None:
        if around.type in FUNCTIONS and not _called_on_the_spot(around):
            return False
        if around.type in ("public_field_definition", "field_definition") and not _static(around):
            return False
        if around.type in _TESTING and _asks_otherwise(module, around, inner):
            return False
        inner, around = around, around.parent
    return True


def _static(definition: Node) -> bool:
    return any(child.type == "static" for child in definition.children)


def _called_on_the_spot(function: Node) -> bool:
    outer = function.parent
    inner = function
    while outer is not None and outer.type == "parenthesized_expression":
        inner, outer = outer, outer.parent
    if outer is not None and outer.type == "member_expression" and outer.parent is not None:
        inner, outer = outer, outer.parent
    if outer is None or outer.type != "call_expression":
        return False
    called = outer.child_by_field_name("function")
    return called is not None and called.id == inner.id


_TESTING: Final = {"if_statement": "condition", "ternary_expression": "condition", "binary_expression": "left"}
_OTHERWISE: Final = ("require.main", "import.meta", "process.argv", "typeof window", "typeof document", "VITEST", "JEST")
"""What asks whether the module was started as a program, runs in a browser, or under test."""


def _asks_otherwise(module: Module, statement: Node, inner: Node) -> bool:
    """Whether a test keeps what follows it from running when the platform loads the module."""
    condition = statement.child_by_field_name(_TESTING[statement.type])
    if condition is None or condition.id == inner.id:
        return False
    text = module.text(plain(condition))
    return text in ("false", "0") or any(word in text for word in _OTHERWISE)


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


def inside(node: Node) -> Iterator[Node]:
    """All nodes below, those of inner functions left out."""
    stack = list(node.named_children)
    while stack:
        inner = stack.pop()
        yield inner
        if inner.type not in FUNCTIONS:
            stack.extend(inner.named_children)
