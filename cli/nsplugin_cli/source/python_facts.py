"""Facts of one definition: what its handlers do with their context, and what loading its module starts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from nsplugin.lazy import pattern
from nsplugin.platforms import Platform
from nsplugin.pointers import UNKNOWN, join
from nsplugin_cli.facts import ContextUse, Enqueue, Facts, PayloadRead, SecretRaised
from nsplugin_cli.source.python_context import Follower, parameter_paths
from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_layout import Layout
from nsplugin_cli.source.python_module import NEVER_OURS, Module
from nsplugin_cli.source.python_scopes import inner_scopes
from nsplugin_cli.source.python_timers import timers
from nsplugin_cli.source.python_uses import origins
from nsplugin_cli.source.python_values import External, Function
from nsplugin_cli.source.secret_names import may_name_secret

Placed = TypeVar("Placed", Enqueue, ContextUse, PayloadRead, SecretRaised)

_JOBS: Final = "/jobs/"
_PAYLOAD: Final = "payload"
_SCHEMA: Final = "payloadSchema"
_INNER_IMPORT: Final = pattern(r"\n[ \t]+(?:from|import)\b")


def facts_of(evaluator: Evaluator, module: Module, layout: Layout, raw: Mapping[Any, Any], *, loading: bool) -> Facts:
    """The facts of a definition that was laid out as ``raw``. ``loading``: also what loading the module starts."""
    platform, handlers = layout.platform, layout.functions
    follower = Follower(platform, evaluator)
    for pointer, value in handlers.items():
        follower.handler(value, platform.handlers.job if pointer.startswith(_JOBS) else platform.handlers.route)
    functions = {pointer: value.data for pointer, value in handlers.items() if isinstance(value.data, Function)}
    return Facts(
        timers=tuple(timers(evaluator, module)) if loading else (),
        enqueues=_by_place(follower.enqueues),
        context_uses=_by_place(follower.uses),
        context_known=follower.known,
        payload_reads=_by_place(_payload_reads(platform, evaluator, functions, raw)),
        secrets_raised=_by_place(_secrets(evaluator, module, functions.values())),
        never_retryable=frozenset(_never_retryable(platform, evaluator, functions, raw)),
    )


def _by_place(facts: Iterable[Placed]) -> tuple[Placed, ...]:
    """Each fact once, in the order of path and line."""
    found = {(fact.path, fact.span): fact for fact in facts}
    return tuple(found[place] for place in sorted(found))


def _payload_reads(
    platform: Platform, evaluator: Evaluator, functions: Mapping[str, Function], raw: Mapping[Any, Any]
) -> Iterator[PayloadRead]:
    """Looked for only where no model or schema stands between the payload and the handler."""
    for pointer, job in _jobs(raw.get("jobs")):
        function = functions.get(pointer)
        if function is None or function.opaque or not isinstance(job, Mapping) or _SCHEMA in job:
            continue
        paths = parameter_paths(function, platform.handlers.job, platform.handlers.whole) or {}
        holders = [name for name, path in paths.items() if path in ((), (_PAYLOAD,))]
        if not holders:
            continue
        from nsplugin_cli.source.python_payload import Unchecked

        for name in holders:
            services = frozenset(paths) - (set(holders) if paths[name] else set())
            node = Unchecked(evaluator, function, services).first(name, whole=not paths[name])
            if node is not None:
                span = function.module.text.span(node)
                yield PayloadRead(job=pointer, written=function.module.text.written(node), path=function.module.path, span=span)


def _jobs(jobs: Any) -> Iterator[tuple[str, Any]]:
    """The raw jobs by pointer, whether they stand in a mapping or a list."""
    pairs = jobs.items() if isinstance(jobs, Mapping) else enumerate(jobs) if isinstance(jobs, list) else ()
    return ((join("/jobs", key), job) for key, job in pairs if key is not UNKNOWN)


def _secrets(evaluator: Evaluator, module: Module, functions: Iterable[Function]) -> Iterator[SecretRaised]:
    """Where handlers lead is followed only when there is something to find at the end of it."""
    if not _raises_secret(evaluator, module) and not _leads_elsewhere(evaluator, module):
        return
    from nsplugin_cli.source.python_reach import Reacher
    from nsplugin_cli.source.python_secrets import secrets_raised

    reacher, reached = Reacher(evaluator), dict[Function, None]()
    for function in functions:
        reached.update(dict.fromkeys(reacher.of(function).functions))
    for function in reached:
        yield from secrets_raised(evaluator, function.module, function.module.scope(function.node))


def _raises_secret(evaluator: Evaluator, module: Module) -> bool:
    """Whether any code of the module itself does."""
    if not may_name_secret(module.text.source):
        return False
    from nsplugin_cli.source.python_secrets import secrets_raised

    return any(secrets_raised(evaluator, module, module.root))


def _leads_elsewhere(evaluator: Evaluator, module: Module) -> bool:
    """Whether the module imports any other of the repository."""
    if not evaluator.modules.may_be_found:
        return False
    scopes = inner_scopes(module.root) if _may_import_inside(module) else (module.root,)
    asked = (scope for scope in scopes if origins(scope, module) - NEVER_OURS)
    imported = ((name, scope) for scope in asked for name, (node, *_) in scope.stores.items() if type(node) is ast.alias)
    found = (evaluator.names.bound(name, module, scope) for name, scope in imported)
    return any(data is not UNKNOWN and not isinstance(data, External) for data in found)


def _may_import_inside(module: Module) -> bool:
    """Whether the word stands anywhere but in statements of the top level."""
    body: list[ast.stmt] = module.root.node.body  # type: ignore[attr-defined]  # it is a module's
    at_top = len([each for each in body if type(each) in (ast.Import, ast.ImportFrom)])
    source = module.text.source
    return source.count("import") > at_top and _INNER_IMPORT.search(source) is not None


def _never_retryable(
    platform: Platform, evaluator: Evaluator, functions: Mapping[str, Function], raw: Mapping[Any, Any]
) -> Iterator[str]:
    """Asked only where it matters: on a platform that retries on demand, for a job that asks for retries."""
    if platform.retry.policy != "retryable-only":
        return
    from nsplugin_cli.source.python_retries import never_retryable

    for pointer, job in _jobs(raw.get("jobs")):
        function = functions.get(pointer)
        if isinstance(job, Mapping) and "maxAttempts" in job and function is not None and never_retryable(evaluator, function):
            yield pointer
