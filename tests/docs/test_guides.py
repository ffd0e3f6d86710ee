"""The tutorial and the how-tos against the code: commands are run or at least taken, examples build and do what they say."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

import source_tree
import transcripts
from nsplugin.testing import Bench, local_providers
from nsplugin_cli.group import COMMANDS

DOCS = source_tree.ROOT / "docs"
TUTORIAL = DOCS / "tutorial.md"
GUIDES = sorted([TUTORIAL, *(DOCS / "howto").glob("*.md")])


def _names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


def test_every_command_of_the_tutorial_prints_what_stands_there() -> None:
    """`make update` writes the output in."""
    text = TUTORIAL.read_text(encoding="utf-8")
    assert transcripts.rendered(text) == text


@pytest.mark.parametrize("page", GUIDES, ids=_names(GUIDES))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([\w./-]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def _calls(page: Path) -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in map(str.strip, lines) if line.startswith("nsplugin ")]


def _command(words: list[str]) -> tuple[click.Command, list[str]]:
    command: Any = import_module(f"nsplugin_cli.commands.{words[0]}").command
    words = words[1:]
    while isinstance(command, click.Group):
        command, words = command.commands[words[0]], words[1:]
    return command, words


def test_all_guides_but_one_call_commands() -> None:
    assert _names([page for page in GUIDES if not _calls(page)]) == ["long-work-in-pages"]


@pytest.mark.parametrize("page", GUIDES, ids=_names(GUIDES))
def test_commands_and_options_exist(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for call in _calls(page):
        assert call[0] in COMMANDS
        command, words = _command(call)
        named = [word.partition("=")[0] for word in words if word.startswith("--")]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert set(named) <= known, call


def _examples(name: str) -> list[dict[str, Any]]:
    text = (DOCS / "howto" / f"{name}.md").read_text(encoding="utf-8")
    found = []
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        names: dict[str, Any] = {"__name__": name}
        exec(compile(code, f"{name}.md", "exec"), names)
        found.append(names)
    return found


def test_idempotent_handlers_may_run_twice() -> None:
    simple, costly = _examples("idempotent-handlers")
    bench = Bench(target=simple["plugin"], kv={"a": 1})
    assert [bench.run("expire", {"key": "a"}).kv for _ in range(2)] == [{}, {}]
    calls: list[str] = []

    async def bank(order: str, key: str) -> None:
        calls.append(key)

    costly["charge"].__globals__["call_the_bank"] = bank
    bench = Bench(target=costly["plugin"])
    assert all(bench.run("charge", {"order": "o-1"}).succeeded for _ in range(2))
    assert calls == ["o-1"]


def test_long_work_goes_page_by_page_and_ends() -> None:
    (example,) = _examples("long-work-in-pages")
    orders = [{"id": f"o{number:03}", "subtotal": number} for number in range(450)]
    bench = Bench(target=example["jobs"], providers=local_providers(objects={"order": orders}))
    payload: Any = None
    pages = 0
    while pages < 10:
        result = bench.run("recalc_totals", payload)
        assert result.succeeded, result.error
        pages += 1
        if not result.enqueued:
            break
        payload = result.enqueued[0].payload
    assert pages == 3


def test_a_lock_keeps_the_second_run_out() -> None:
    (example,) = _examples("overlapping-schedules")
    bench = Bench(target=example["jobs"])
    assert bench.run("sync", source="schedule").succeeded
    bench.values.lock(bench._plugin, "sync", "another run", now=bench.time.now_ms(), ttl_ms=60_000)
    second = bench.run("sync", source="schedule")
    assert second.succeeded and [line.message for line in second.logs] == ["the run before is still at work"]
