"""The house rules that a program can check."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from statistics import quantiles

import source_tree
from nsplugin.platforms import NAMES

MAX_FILE, MAX_TEST_FILE, MAX_FUNCTION, MAX_COMMAND = 450, 450, 60, 40
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
EVERY = source_tree.modules()


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def test_files_are_short() -> None:
    lengths = {module.where: len(module.path.read_text(encoding="utf-8").splitlines()) for module in EVERY}
    assert {where: length for where, length in lengths.items() if length > MAX_FILE} == {}


def _beside(*folders: str) -> dict[str, str]:
    """The texts of the modules in folders beside the packages."""
    paths = (path for folder in folders for path in (source_tree.ROOT / folder).rglob("*.py"))
    return {str(path.relative_to(source_tree.ROOT)): path.read_text(encoding="utf-8") for path in paths}


def test_files_of_tests_are_short() -> None:
    lengths = {where: len(text.splitlines()) for where, text in _beside("tests", "bench").items()}
    assert {where: length for where, length in lengths.items() if length > MAX_TEST_FILE} == {}


def test_tests_silence_no_check_and_cite_what_everybody_can_read() -> None:
    """No type checker reads tests, so there is nothing to silence; numbers and titles of tickets say nothing outside."""
    banned = re.compile("# type" + r": ignore|\b[Ii]ssue(:| \d| \")")
    assert [where for where, text in _beside("tests", "bench").items() if banned.search(text)] == []


def test_functions_are_short() -> None:
    """None over 60 lines, and a command's glue not over 40."""
    too_long = [
        f"{module.where}:{node.lineno} {node.name}"
        for module in EVERY
        for node in _functions(module.tree)
        if _length(node) > (MAX_COMMAND if module.name.startswith("nsplugin_cli.commands") else MAX_FUNCTION)
    ]
    assert too_long == []


def test_most_functions_are_very_short() -> None:
    lengths = [_length(node) for module in EVERY for node in _functions(module.tree)]
    tenths = quantiles(lengths, n=10)
    assert tenths[4] < 10 and tenths[8] < 25


def test_modules_have_names_that_say_something() -> None:
    assert [module.where for module in EVERY if VAGUE & set(re.split(r"[._]", module.name))] == []


def _judged_by_name(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        operands = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        operands += [node.value] if isinstance(node, ast.MatchValue) else []
        if any(isinstance(item, ast.Constant) and item.value in NAMES for item in operands):
            yield getattr(node, "lineno", 0)


def test_nothing_branches_on_a_platforms_name() -> None:
    assert [f"{module.where}:{line}" for module in EVERY for line in _judged_by_name(module.tree)] == []


def test_the_tree_speaks_of_the_project_alone() -> None:
    """No path of the machine it was made on, and no host of a package registry."""
    banned = re.compile("|".join(("/" + "work/", "py" + "pi\\.", "npm" + "js", "deb" + "\\.debian")))
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=source_tree.ROOT, capture_output=True, check=True).stdout
    paths = [source_tree.ROOT / name for name in listed.decode().split("\0") if name]
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in paths if path.is_file()}
    assert [str(path) for path, text in texts.items() if banned.search(text)] == []
