"""docs/operating.md against the code."""

from __future__ import annotations

import re

import click

import source_tree
from nsplugin_cli.group import cli
from nsplugin_core.metrics import Metrics
from nsplugin_core.service import Service
from service_world import Site

PAGE = (source_tree.ROOT / "docs" / "operating.md").read_text(encoding="utf-8")


def test_the_page_names_every_metric_and_no_other(local: Site) -> None:
    service = Service(local.url)
    text = service.metrics.text().decode()
    service.stop()
    shown = {name for name in re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE) if not name.endswith("_created")}
    assert isinstance(service.metrics, Metrics)
    assert set(re.findall(r"`(nsplugin_\w+)`", PAGE)) == shown


def test_the_page_names_only_options_that_commands_have() -> None:
    known = {option for command in _commands(cli) for parameter in command.params for option in parameter.opts}
    named = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", PAGE))
    assert named - known == set()


def _commands(group: click.Group) -> list[click.Command]:
    context = click.Context(group)
    found: list[click.Command] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += _commands(command) if isinstance(command, click.Group) else [command]
    return found
