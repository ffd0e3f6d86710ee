"""Secrets in the messages of exceptions that TypeScript handlers throw (spec/nextskin.md A5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from nsplugin_cli.facts import SecretRaised
from nsplugin_cli.source.typescript_loading import inside
from nsplugin_cli.source.typescript_module import Module

_SECRET: Final = re.compile(
    r"(?:^|[_.])(?:secret|password|passwd|passphrase|api_?key|access_?key|private_?key|credentials?|auth_?token|access_?token"
    r"|refresh_?token|bearer)s?$",
    re.IGNORECASE,
)


def secret_names(module: Module, body: Node | None) -> frozenset[str]:
    """Local names that hold what the context's ``secrets`` gave."""
    found = set()
    for node in inside(body) if body is not None else ():
        if node.type == "variable_declarator":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None and re.search(r"\bsecrets\.(?:get|require)\(", module.text(value)):
                found.add(module.text(name))
    return frozenset(found)


def raised_secrets(module: Module, statement: Node, held: frozenset[str]) -> Iterator[SecretRaised]:
    for node in inside(statement):
        if node.type not in ("identifier", "member_expression") or not _in_message(node, statement):
            continue
        text = module.text(node)
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
        if text in held or _SECRET.search(snake):
            yield SecretRaised(name=text, path=module.path, span=module.span(node))


def _in_message(node: Node, statement: Node) -> bool:
    """Whether the expression itself goes into a message, and not a property of it or a test on it."""
    parent = node.parent
    if parent is None or parent.type == "member_expression":
        return False
    if parent.type == "template_substitution":
        return True
    joined = parent.type == "binary_expression" and any(child.type == "+" for child in parent.children)
    return joined or parent.type == "arguments"
