"""Whether a TypeScript handler can ever raise ``RetryableError`` (spec/cogover.md X4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin_cli.source.typescript_context import readable
from nsplugin_cli.source.typescript_module import Module
from nsplugin_cli.source.typescript_names import FUNCTIONS, Imported
from nsplugin_cli.source.typescript_origins import Origin, Origins, Site
from nsplugin_cli.source.typescript_results import FunctionValue

_RETRYABLE: Final = "RetryableError"
_LASTING: Final = frozenset(
    ("TypeError", "RangeError", "SyntaxError", "AssertionError", "ZodError", "ValidationError", "PermissionDeniedError")
)
"""Errors that another attempt would meet again: who raises them does not wait for one."""
_IDLE: Final = frozenset(
    {"assert", "buffer", "crypto", "dns", "events", "fs", "fs/promises", "http", "https", "net", "os", "path", "perf_hooks"}
    | {"querystring", "stream", "timers", "timers/promises", "tls", "url", "util", "zlib", "zod"}
)
"""Modules whose code raises no ``RetryableError``."""
_GLOBALS: Final = frozenset(
    {"AbortController", "AbortSignal", "AggregateError", "Array", "ArrayBuffer", "BigInt", "Blob", "Boolean", "Buffer"}
    | {"Date", "Error", "EvalError", "FormData", "Headers", "Infinity", "Intl", "JSON", "Map", "Math", "NaN", "Number"}
    | {"Object", "Promise", "RangeError", "ReferenceError", "RegExp", "Request", "Response", "Set", "String", "Symbol"}
    | {"SyntaxError", "TextDecoder", "TextEncoder", "TypeError", "URIError", "URL", "URLSearchParams", "Uint8Array"}
    | {"WeakMap", "WeakSet", "atob", "btoa", "clearInterval", "clearTimeout", "console", "crypto", "decodeURI"}
    | {"decodeURIComponent", "encodeURI", "encodeURIComponent", "fetch", "globalThis", "isFinite", "isNaN", "parseFloat"}
    | {"parseInt", "performance", "process", "queueMicrotask", "setImmediate", "setInterval", "setTimeout"}
    | {"structuredClone", "undefined"}
)
"""The language's own names; another global may be anything."""
_MOST_SITES: Final = 200


def never_retryable(origins: Origins, handler: FunctionValue) -> bool:
    """Whether a handler fails in ways that could pass, and nothing that it runs names ``RetryableError``.

    Code that was not read (another package, a value that was not evaluated) might raise it, so the answer is then no. The
    context's own services are taken to raise what their documentation says, which it is not. A handler that raises nothing may
    have its attempts for time-outs, which are retried, and one that only refuses bad data wants none.
    """
    reach = _Reach(origins)
    sites = reach.of(Site(handler.module, handler.node))
    return reach.complete and any(map(_fails_for_now, sites))


class _Reach:
    """The code that a handler leads to by name; ``complete``: none of it is left out."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.complete = True
        self._seen: set[tuple[str, int]] = set()
        self._pending: list[Site] = []

    def of(self, handler: Site) -> list[Site]:
        """The handler and what it leads to."""
        sites: list[Site] = []
        self._take(handler)
        while self._pending and self.complete:
            site = self._pending.pop()
            sites.append(site)
            for node in _named(site.node):
                self._name(site.module, node)
        return sites

    def _take(self, site: Site) -> None:
        mark = site.module.path, site.node.id
        if mark not in self._seen:
            self._seen.add(mark)
            self._pending.append(site)
            self.complete &= len(self._seen) <= _MOST_SITES

    def _name(self, module: Module, node: Node) -> None:
        if node.type == "import":
            self.complete = False
            return
        home = module.home(node, module.text(node))
        if home is not None and home[0] != module.root.id:
            return  # a name of a function: what it holds came from names that are looked at, or from the context
        origin = self.origins.of(module, _longest(node))
        if isinstance(origin, Site):
            self._take(origin)
        else:
            self.complete &= isinstance(origin, tuple) and _is_idle(module, origin)


def _named(code: Node) -> Iterator[Node]:
    """The names that stand for values in a piece of code."""
    stack = [code]
    while stack:
        node = stack.pop()
        if node.type in ("identifier", "shorthand_property_identifier", "import"):
            yield node
        stack.extend(node.named_children if node is code else readable(node))


def _longest(node: Node) -> Node:
    """The whole dotted name that begins with a name: ``a.b.c``."""
    holder = node.parent
    while holder is not None and holder.type == "member_expression":
        target = holder.child_by_field_name("object")
        if target is None or target.id != node.id:
            break
        node, holder = holder, holder.parent
    return node


def _is_idle(module: Module, origin: Origin) -> bool:
    """Whether what comes from elsewhere certainly raises no ``RetryableError``."""
    if origin[-1] == _RETRYABLE:
        return False
    if origin[0] == "":
        return origin[1:2] == () or origin[1] in _GLOBALS
    if origin[0] in _IDLE:
        return True
    return len(origin) > 1 and origin[1] != "errors" and origin[0] in _sdks(module)


def _sdks(module: Module) -> set[str]:
    """The modules that give the platform's own definers here."""
    imports = (bound for bound in module.names.bound.values() if isinstance(bound, Imported))
    return {bound.source for bound in imports if bound.name in ("defineJob", "definePlugin", "z")}


def _fails_for_now(site: Site) -> bool:
    stack = [site.node]
    while stack:
        node = stack.pop()
        if node.type == "throw_statement" and not _is_caught(node) and _could_pass(site.module, node):
            return True
        stack.extend(node.named_children)
    return False


def _is_caught(statement: Node) -> bool:
    """Whether a ``try`` of the same function catches what is thrown: what leaves it is then another error."""
    inner, around = statement, statement.parent
    while around is not None and around.type not in FUNCTIONS:
        if around.type == "try_statement" and around.child_by_field_name("handler") is not None:
            body = around.child_by_field_name("body")
            if body is not None and body.id == inner.id:
                return True
        inner, around = around, around.parent
    return False


def _could_pass(module: Module, statement: Node) -> bool:
    """Whether what is thrown is more than a refusal of bad data: a failure of something else, or an error of its own kind."""
    around = statement.parent
    while around is not None and around.type not in FUNCTIONS:
        if around.type == "if_statement" and _asks_for_data(module, around):
            return False
        if around.type == "catch_clause":
            return True
        around = around.parent
    thrown = statement.named_children[0] if statement.named_child_count else None
    made = thrown.child_by_field_name("constructor") if thrown is not None else None
    name = module.text(made).rpartition(".")[2] if made is not None else ""
    return name not in _LASTING


def _asks_for_data(module: Module, statement: Node) -> bool:
    """Whether a test looks at what was given: another attempt would be given the same."""
    condition = statement.child_by_field_name("condition")
    text = module.text(condition) if condition is not None else ""
    return any(word in text for word in ("payload", "typeof", ".success", "isArray", "isInteger", "isNaN", *_LASTING))
