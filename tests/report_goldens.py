"""One report with everything that is hard to render, and what each format makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nsplugin_cli.diagnostic import Diagnostic, Report, ordered
from nsplugin_cli.report import renderer

FOLDER = Path(__file__).parent / "lint" / "reports"
ENDINGS = {"text": "txt", "json": "json", "sarif": "sarif.json", "github": "github.txt", "junit": "xml"}

SOURCE = (
    "# Größe 漢字\n"
    'plugin = define_plugin(jobs={"1a": Job(f)}, cron=[Cron("0 24 * * *", job="tidy")])\n'
    "\tX = '<a href=\"&\">' \x1b[31m\n"
    "plugin = define_plugin(\n    id='')\n"
)
"""Wide characters, a tab, mark-up, a terminal escape."""


def diagnostics() -> Iterator[Diagnostic]:
    """A finding on one line, one of several lines, one without a place, one whose every text needs escaping."""
    yield Diagnostic(
        code="NSP203",
        name="cron-value-out-of-range",
        severity="error",
        message="hour 24 is out of range: 0–23",
        hint="midnight is hour `0`",
        path="plugins/größe & co/a,b:c%.py",
        pointer="/cron/0/schedule",
        line=2,
        column=60,
        end_line=2,
        end_column=62,
    )
    yield Diagnostic(
        code="NSP110",
        name="plugin-id-invalid",
        severity="error",
        message="the plugin id is empty",
        path="plugins/größe & co/a,b:c%.py",
        pointer="/id",
        line=4,
        column=10,
        end_line=5,
        end_column=11,
    )
    yield Diagnostic(
        code="NSP402",
        name="payload-unvalidated",
        severity="warning",
        message='100% of <payload> & "more"\r\nis ::error:: ]]> \x1b[31m \ud800 \ufffe',
        hint="a, b: c",
        path="plugins/größe & co/a,b:c%.py",
        line=3,
        column=6,
        end_line=3,
        end_column=20,
    )
    yield Diagnostic(
        code="NSP001", name="config-invalid", severity="error", message="it is larger than 1 MiB", path="nsplugin.toml"
    )
    yield Diagnostic(
        code="NSP601",
        name="manifest-unreadable",
        severity="error",
        message="the text ends too early",
        path="<stdin>",
        pointer="/jobs/a~1b",
    )


def report(*, folder: str = "/home/me/repo/packages/one", root: str | None = "/home/me/repo") -> Report:
    """The report, seen from a subfolder of a repository."""
    found = ordered(diagnostics())
    texts = {"plugins/größe & co/a,b:c%.py": SOURCE}
    return Report(command="lint", files=3, diagnostics=found, sources=texts, folder=folder, root=root)


def empty() -> Report:
    """A report without findings."""
    return Report(command="lint", files=3, folder="/home/me/repo", root="/home/me/repo")


def files() -> Iterator[tuple[Path, bytes]]:
    """Each golden file and what it should hold."""
    for form, ending in ENDINGS.items():
        for name, made in (("findings", report()), ("clean", empty())):
            yield FOLDER / f"{name}.{ending}", renderer(form)(made).encode("utf-8", "backslashreplace")
