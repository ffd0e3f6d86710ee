"""docs/reference: pages that the code writes, so that they say what it does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from typing import Any

import click

from nsplugin.platforms import NAMES, load
from nsplugin_cli.group import COMMANDS
from nsplugin_core.simulation import Summary
from nsplugin_core.timeline.plain import SUMMARY

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
MADE = "<!-- made from the code by `make update`; edits are lost -->\n"
WIDTH = 100


def files() -> Iterator[tuple[Path, bytes]]:
    """Each page and what it should hold."""
    yield FOLDER / "commands.md", _commands().encode()
    yield FOLDER / "platforms.md", _platforms().encode()
    yield FOLDER / "simulation.md", _simulation().encode()


def _commands() -> str:
    parts = [MADE, "# Commands\n", "| command | what it does |", "| --- | --- |"]
    parts += [f"| [`{name}`](#nsplugin-{name}) | {text} |" for name, text in COMMANDS.items()]
    for name in COMMANDS:
        command: click.Command = import_module(f"nsplugin_cli.commands.{name}").command
        parts += [f"\n## nsplugin {name}\n", *_helps(command, f"nsplugin {name}")]
    return "\n".join(parts) + "\n"


def _helps(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    yield f"```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield f"\n### {name} {inner}\n"
            yield from _helps(found, f"{name} {inner}")


def _platforms() -> str:
    platforms = [load(name) for name in NAMES]
    heads = " | ".join(platform.title for platform in platforms)
    parts = [MADE, "# Limits and policies of the platforms\n", f"| | {heads} |", f"| --- |{' --- |' * len(platforms)}"]
    rows = [dict(_values(platform)) for platform in platforms]
    for key in dict.fromkeys(key for row in rows for key in row):
        cells = " | ".join(_cell(row.get(key)) for row in rows)
        parts.append(f"| `{key}` | {cells} |")
    return "\n".join(parts) + "\n"


_SECTIONS = (
    "job_name", "plugin_id", "max_attempts", "timeout_ms", "jobs", "payload", "cron", "enqueue", "retry", "retention",
    "storage", "routes", "words",
)  # fmt: skip


def _values(platform: Any) -> Iterator[tuple[str, Any]]:
    for section in _SECTIONS:
        values = getattr(platform, section)
        for key in () if values is None else get_annotations(type(values)):
            if key not in ("source", "form", "noun"):
                yield f"{section}.{key}", getattr(values, key)


def _cell(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, list | tuple):
        return ", ".join(f"`{item}`" for item in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"`{str(value).replace('|', chr(92) + '|')}`" if str(value) else "none"


def _simulation() -> str:
    fields = {field.name for field in dataclasses.fields(Summary)}
    published = {field: name for name, field in SUMMARY.items()}
    parts = [
        MADE,
        "# What `simulate` counts\n",
        "`--assert` takes each of these names (also with `-` for `_`, or in camelCase), one of `= < > <= >=`, and a number.",
        "`dead` is short for `dead_letters`. `--format json` has those with a name in the second column.\n",
        "| `--assert` | JSON |",
        "| --- | --- |",
        *(f"| `{name}` | {f'`{published[name]}`' if name in published else '—'} |" for name in Summary.names()),
        f"\n{' '.join((Summary.__doc__ or '').split())}".replace("``", "`"),
    ]
    assert set(published) <= fields
    return "\n".join(parts) + "\n"
