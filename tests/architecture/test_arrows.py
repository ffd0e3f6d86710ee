"""Which package and which module may import which."""

from __future__ import annotations

import source_tree

MAY_IMPORT = {
    "nsplugin_schemas": {"nsplugin_schemas"},
    "nsplugin": {"nsplugin", "nsplugin_schemas"},
    "nsplugin_core": {"nsplugin_core", "nsplugin", "nsplugin_schemas"},
    "nsplugin_cli": {"nsplugin_cli", "nsplugin", "nsplugin_schemas"},
}
CORE_COMMANDS = "nsplugin_cli.commands."
MIDDLE = 7
"""Where a module stands that the list does not name: beside those that the pipeline calls."""
VERSION = "nsplugin_cli.__version__"

SIBLINGS = {"source", "rules", "report"}
LAYERS = (
    {"diagnostic", "facts", "git_patterns", "progress", "regular_file", "terminal"},
    {"rules"},
    {"catalogue", "rule_names"},
    {"project_keys"},
    {"project"},
    {"source"},
    {"report"},
    {"sources", "destinations", "scaffold"},
    {"entry_problems", "definition_problems"},
    {"pipeline", "forecast", "comparison", "lint", "unwanted"},
    {"candidates"},
    {"commands"},
    {"group"},
    {"app"},
    {"__main__"},
)


def _package(name: str) -> str:
    return name.partition(".")[0]


def _allowed(module: source_tree.Module) -> set[str]:
    return MAY_IMPORT[_package(module.name)] | ({"nsplugin_core"} if module.name.startswith(CORE_COMMANDS) else set())


def test_packages_import_only_what_stands_before_them() -> None:
    wrong = [
        f"{module.where}:{line} imports {name}"
        for module in source_tree.modules()
        for line, name in module.imports()
        if _package(name) in MAY_IMPORT and _package(name) not in _allowed(module)
    ]
    assert wrong == []


def test_nobody_imports_a_source_root() -> None:
    """``import sdk.nsplugin`` works by accident from the root and makes second copies of classes."""
    roots = {root.name for root in source_tree.PACKAGES.values()}
    tests = [source_tree.Module(path.stem, path) for path in (source_tree.ROOT / "tests").rglob("*.py")]
    every = [*source_tree.modules(), *tests]
    assert [module.where for module in every for _, name in module.imports() if _package(name) in roots] == []


def _part(name: str) -> str:
    return name.split(".")[1]


def _layer(name: str) -> int:
    return next((rank for rank, names in enumerate(LAYERS) if _part(name) in names), MIDDLE)


def _fits(module: str, other: str) -> bool:
    if {_part(module), _part(other)} <= SIBLINGS:
        return _part(module) == _part(other)
    return _part(other) == _part(module) or _layer(other) <= _layer(module)


def test_the_command_line_imports_downwards() -> None:
    """commands → pipeline → {source, rules, report} → diagnostic; the three in the middle do not know each other."""
    own = [module for module in source_tree.modules() if module.name.startswith("nsplugin_cli.")]
    wrong = [
        f"{module.where}:{line} imports {name}"
        for module in own
        for line, name in module.imports(at_run_time=True)
        if name.startswith("nsplugin_cli.") and name != VERSION and not _fits(module.name, name)
    ]
    assert wrong == []
