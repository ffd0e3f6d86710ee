"""The facts of TypeScript handlers: what starts by itself, enqueues, uses of the context, payloads, secrets, retries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from nsplugin.platforms import Platform
from nsplugin_cli.facts import Facts, PayloadRead, SecretRaised, Timer
from nsplugin_cli.source.typescript_context import Frame, Walk
from nsplugin_cli.source.typescript_payloads import ordered, unchecked_read
from nsplugin_cli.source.typescript_secrets import raised_secrets, secret_names
from nsplugin_cli.source.typescript_timers import inside
from nsplugin_cli.source.typescript_values import Evaluator, FunctionValue


def facts_of(
    functions: Mapping[str, FunctionValue], platform: Platform, evaluator: Evaluator, started: tuple[Timer, ...]
) -> Facts:
    """The facts of one definition; ``functions`` are its handlers by the pointer of their job or route."""
    walk = Walk(platform, evaluator)
    reads: list[PayloadRead] = []
    secrets: list[SecretRaised] = []
    never: set[str] = set()
    for pointer, function in functions.items():
        frame = walk.handler(function)
        if pointer.startswith("/jobs/"):
            reads.extend(_payload(walk, pointer, function, frame))
            if _cannot_throw(function):
                never.add(pointer)
        secrets.extend(_secrets(function))
    return Facts(
        timers=started,
        enqueues=tuple(sorted(walk.enqueues, key=lambda fact: (fact.path, fact.span))),
        context_uses=tuple(sorted(walk.uses, key=lambda fact: (fact.path, fact.span))),
        context_known=walk.known,
        payload_reads=tuple(reads),
        secrets_raised=tuple(secrets),
        never_retryable=frozenset(never),
    )


def _payload(walk: Walk, pointer: str, function: FunctionValue, frame: Frame) -> list[PayloadRead]:
    read, module = unchecked_read(walk.prefix, frame, function.node), function.module
    if read is None:
        return []
    return [PayloadRead(job=pointer, written=module.text(read)[:80], path=module.path, span=module.span(read))]


def _secrets(function: FunctionValue) -> list[SecretRaised]:
    body = function.node.child_by_field_name("body")
    if body is None or b"throw" not in function.module.data[body.start_byte : body.end_byte]:
        return []
    thrown = [node for node in inside(body) if node.type == "throw_statement"]
    held = secret_names(function.module, body) if thrown else frozenset()
    return [secret for node in thrown for secret in raised_secrets(function.module, node, held)]


_HARMLESS: Final = re.compile(r"^(?:console|log|ctx\.log|context\.log|Math|JSON|Number|String|Boolean|Date|Object|Array)\b")


def _cannot_throw(function: FunctionValue) -> bool:
    """Whether a handler, read to the last call, has nothing that could raise a ``RetryableError``."""
    body = function.node.child_by_field_name("body")
    if body is None:
        return False
    for node in ordered(body):
        if node.type in ("throw_statement", "await_expression", "new_expression", "yield_expression"):
            return False
        if node.type == "call_expression":
            called = node.child_by_field_name("function")
            if called is None or not _HARMLESS.match(function.module.text(called)):
                return False
    return True
