"""TypeScript source as text: the first place that does not parse, comments that silence findings."""

from __future__ import annotations

from tree_sitter import Node

from nsplugin.rules._family import Found
from nsplugin.spans import Position, Span
from nsplugin_cli.facts import Ignore
from nsplugin_cli.source.typescript_module import Module


def syntax_fault(module: Module) -> Found | None:
    """The first place that does not parse, or ``None``."""
    node = next(module.errors(), None)
    if node is None:
        return None
    start = module.position(node.start_byte)
    end = module.position(node.end_byte)
    if end.line != start.line or end.column == start.column:
        end = Position(start.line, start.column + 1)
    return Found(pointer="", message=_said(module, node), span=Span(*start, *end))


def _said(module: Module, node: Node) -> str:
    language = "JavaScript" if module.path.lower().endswith((".js", ".mjs", ".cjs", ".jsx")) else "TypeScript"
    if node.is_missing:
        return f"this is no valid {language}: {node.type} is missing here"
    text = module.text(node).split("\n")[0].strip()
    shown = text if len(text) <= 30 else text[:29] + "…"
    return f"this is no valid {language}, from {shown!r} on" if shown else f"this is no valid {language}"


def ignores(module: Module) -> tuple[Ignore, ...]:
    """The comments that silence findings on their line."""
    if b"nsplugin:" not in module.data:
        return ()
    from nsplugin_cli.source.suppress import read_comment

    found = []
    for node in module.captured.get("comment", ()):
        start = module.position(node.start_byte)
        ignore = read_comment(module.text(node), start.line, start.column)
        if ignore is not None:
            found.append(ignore)
    return tuple(found)
