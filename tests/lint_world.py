"""One ``nsplugin lint`` in a folder, in this process."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import NamedTuple

from fixture_runs import call

PLUGIN = """from nsplugin import Context, Cron, Job, define_plugin


async def tidy(ctx: Context) -> None:
    ctx.log.info("tidied")


plugin = define_plugin(id="tidy", jobs={"tidy": Job(tidy)}, cron=[Cron("EXPRESSION", job="tidy")])
"""


def plugin(expression: str = "0 3 * * *") -> str:
    """A small plugin with this schedule."""
    return PLUGIN.replace("EXPRESSION", expression)


class Said(NamedTuple):
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def codes(self) -> list[str]:
        """The code of each finding in a text report, with its place."""
        return [f"{place} {code}" for place, code in re.findall(r"^(\S+): (?:error|warning) (NSP\d+)", self.out, re.MULTILINE)]


def lint(folder: Path, *arguments: str, stdin: bytes = b"") -> Said:
    """Run it there."""
    with contextlib.chdir(folder):
        return Said(*call(["lint", *arguments], stdin))


def findings(folder: Path, *arguments: str) -> list[str]:
    """``path:line:column code`` of each finding, by the JSON report."""
    said = lint(folder, *arguments, "--format", "json")
    found = json.loads(said.out)["diagnostics"]
    return [f"{each['path']}:{each['line']}:{each['column']} {each['code']}" for each in found]


def write(folder: Path, **files: str) -> Path:
    """Write files, named by keywords: ``__`` is a folder's slash, the last ``_`` the dot."""
    for name, text in files.items():
        stem, _, ending = name.replace("__", "/").rpartition("_")
        path = folder / f"{stem}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder
