"""NSP901: an ignore that silences nothing is itself a finding (spec/cli.md Project file)."""

from __future__ import annotations

from nsplugin_cli.rules.ignores import needless
from nsplugin_cli.source.python import read_python
from nsplugin_cli.source.suppress import silence
from python_sources import problems, text_at

SOURCE = """\
import asyncio
from nsplugin import define_plugin
asyncio.run(main())  # nsplugin: ignore[NSP401]
asyncio.run(main())  # nsplugin: ignore[NSP401, NSP101, NSP999, NSP901]
plugin = define_plugin(id="a")  # nsplugin: ignore
"""
CODES = {"job-name-invalid": "NSP101", "top-level-timer": "NSP401", "needless-ignore": "NSP901"}


def test_what_silences_is_kept_and_the_rest_reported_at_its_place() -> None:
    silenced = silence(problems(SOURCE), read_python(SOURCE.encode(), "plugin.py").ignores)
    assert silenced.problems == ()
    found = needless(silenced.needless, CODES)
    assert [(problem.code, problem.name, problem.severity) for problem in found] == [
        ("NSP901", "needless-ignore", "warning")
    ] * 4
    assert [text_at(SOURCE, problem.span) for problem in found] == ["NSP101", "NSP999", "NSP901", "nsplugin: ignore"]
    assert [problem.message for problem in found] == [
        "this ignore silences nothing: there is no NSP101 on this line",
        "this ignore silences nothing: no rule has the code or name NSP999",
        "NSP901 cannot be ignored",
        "this comment silences nothing: it names no code",
    ]
    assert found[-1].hint == "write nsplugin: ignore[NSP211], with the codes that it is to silence"
