"""The facts of TypeScript handlers: what starts by itself, enqueues, uses of the context, payloads, secrets, retries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nsplugin.platforms import Platform
from nsplugin_cli.facts import Facts, PayloadRead, SecretRaised, Timer
from nsplugin_cli.source.typescript_context import Frame, Walk
from nsplugin_cli.source.typescript_loading import inside
from nsplugin_cli.source.typescript_origins import Origins
from nsplugin_cli.source.typescript_payloads import unchecked_read
from nsplugin_cli.source.typescript_results import FunctionValue
from nsplugin_cli.source.typescript_retries import never_retryable
from nsplugin_cli.source.typescript_secrets import raised_secrets, secret_names
from nsplugin_cli.source.typescript_values import Evaluator


def facts_of(
    functions: Mapping[str, FunctionValue],
    elsewhere: Iterable[FunctionValue],
    platform: Platform,
    evaluator: Evaluator,
    origins: Origins,
    started: tuple[Timer, ...],
) -> Facts:
    """The facts of one definition; ``functions`` are its handlers by the pointer of their job or route.

    ``elsewhere``: handlers of jobs that are judged in their own files, save for the names of what they enqueue.
    """
    walk = Walk(platform, evaluator)
    reads: list[PayloadRead] = []
    secrets: list[SecretRaised] = []
    never: set[str] = set()
    for pointer, function in functions.items():
        frame = walk.handler(function)
        if pointer.startswith("/jobs/"):
            reads.extend(_payload(walk, pointer, function, frame))
            if platform.retry.policy == "retryable-only" and never_retryable(origins, function):
                never.add(pointer)
        secrets.extend(_secrets(function))
    for function in elsewhere:
        walk.handler(function)
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
