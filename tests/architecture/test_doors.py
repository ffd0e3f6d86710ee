"""Each third-party library has its doors: the only modules that import it."""

from __future__ import annotations

import sys

import source_tree

DOORS = {
    "rich": ("nsplugin_cli.report.text", "nsplugin_cli.progress"),
    "jsonschema": ("nsplugin.second_opinion",),
    "croniter": ("nsplugin.second_opinion",),
    "click": ("nsplugin_cli.group", "nsplugin_cli.commands"),
    "tree_sitter": ("nsplugin_cli.source.typescript",),
    "tree_sitter_javascript": ("nsplugin_cli.source.typescript",),
    "tree_sitter_typescript": ("nsplugin_cli.source.typescript",),
    "pydantic": (
        "nsplugin.manifest_models",
        "nsplugin.document_models",
        "nsplugin.json_schemas",
        "nsplugin.payload_model",
    ),
    "pydantic_core": ("nsplugin.manifest_models",),
    "annotated_types": ("nsplugin.manifest_models",),
    "regex": ("nsplugin.json_schema",),
    "rfc8785": ("nsplugin.canonical",),
    "tzdata": ("nsplugin.cron.zones",),
    "tomli": ("nsplugin.platforms", "nsplugin_cli.project"),
    "pathspec": ("nsplugin_cli.git_patterns", "nsplugin_cli.lint"),
    "watchfiles": ("nsplugin_cli.lint", "nsplugin_core.development"),
    "sqlite3": ("nsplugin_core.store",),
    "psycopg": ("nsplugin_core.store",),
}
"""Library: the modules (or packages, or beginnings of names) that may import it."""


OURS_OR_STANDARD = (source_tree.PACKAGES.keys() | sys.stdlib_module_names) - {"sqlite3"}


def test_libraries_come_in_by_their_doors() -> None:
    wrong = [
        f"{module.where}:{line} imports {name}"
        for module in source_tree.modules()
        for line, name in module.imports()
        if (top := name.partition(".")[0]) not in OURS_OR_STANDARD
        and not module.name.startswith(DOORS.get(top, ("nsplugin_core",)))
    ]
    assert wrong == []
