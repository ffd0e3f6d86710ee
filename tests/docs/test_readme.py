"""A newcomer does what the README says and sees what it shows."""

from __future__ import annotations

import re

import source_tree
import transcripts

README = source_tree.ROOT / "README.md"


def test_every_command_of_the_readme_prints_what_stands_there() -> None:
    """`make update` writes the output in; reading it is the reviewer's work."""
    text = README.read_text(encoding="utf-8")
    assert transcripts.rendered(text) == text


def test_the_ways_that_the_readme_names_exist() -> None:
    text = README.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w./-]+)\)", text)
    folders = re.findall(r"^\| `(\w+)/`", text, re.MULTILINE)
    targets = set(re.findall(r"make (\w+)", text))
    makefile = (source_tree.ROOT / "Makefile").read_text(encoding="utf-8")
    assert [link for link in [*links, *folders] if not (source_tree.ROOT / link).exists()] == []
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
