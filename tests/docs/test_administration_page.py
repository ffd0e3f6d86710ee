"""docs/administration.md against the code."""

from __future__ import annotations

import re

import source_tree
from nsplugin_cli.commands.admin_options import ADMIN
from nsplugin_cli.commands.serve import command
from nsplugin_core.admin.access import MIN_TOKEN
from nsplugin_core.admin.pages import FIRES
from nsplugin_core.admin.sessions import SESSION_S

DOCS = source_tree.ROOT / "docs"
PAGE = (DOCS / "administration.md").read_text(encoding="utf-8")
NUMBERS = {3: "three", 12: "twelve"}


def test_the_table_lists_the_options_of_serve_that_are_about_the_page() -> None:
    listed = re.findall(r"^\| `(--[a-z-]+) ([A-Z:]+)`", PAGE, re.MULTILINE)
    known = [(option.opts[0], option.metavar) for option in command.params if option.name and option.name in _names()]
    assert sorted(listed) == sorted(known) and len(listed) == len(ADMIN)


def _names() -> set[str]:
    return {"admin", "admin_token", "trusted_user_header", "trusted_proxy", "admin_name"}


def test_numbers_are_those_of_the_code() -> None:
    assert f"At least {MIN_TOKEN} characters" in PAGE
    assert f"remembers the browser for {NUMBERS[SESSION_S // 3600]} hours" in PAGE
    assert f"the next {NUMBERS[FIRES]} fires" in PAGE


def test_pictures_are_there_and_say_what_they_show() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", PAGE)
    assert pictures and all(words and (DOCS / path).is_file() for words, path in pictures)
