"""The rules whose faults show elsewhere than in the meaning of a raw manifest: while loading, reading, or in its structure.

They are rules like any other to ``explain``, ``rules`` and the reports; only their check lies where the fault shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from nsplugin.rules._family import Found, Problem, Rule

if TYPE_CHECKING:
    from nsplugin.rules.subject import Subject


def elsewhere(subject: Any) -> Iterable[Found]:
    """The check of a rule whose faults are found before there is a raw manifest to judge, or beside it: finds nothing."""
    return ()


_CONFIG = """\
# nsplugin.toml
platform = "nextskin"
id = "cdn-refresh"
entry = "plugin.py"
"""

_MANIFEST = """\
{
  "manifestVersion": 1,
  "platform": "nextskin",
  "id": "cdn-refresh",
  "entry": "plugin:plugin",
  "jobs": {"expire": {"maxAttempts": 3}},
  "cron": [{"schedule": "0 3 * * *", "job": "expire"}]
}
"""

_PLUGIN = """\
from nsplugin import Job, define_plugin


async def expire(payload, ctx):
    await ctx.kv.delete(payload["key"])


plugin = define_plugin(id="cdn-refresh", capabilities=["storage.kv"], jobs={"expire": Job(expire)})
"""

LOADING: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP001",
        name="config-invalid",
        severity="error",
        summary="The project file cannot be used: it does not parse, or a key or value in it is not known.",
        why="A setting that is misspelt would silently not count: the wrong entry would be built, a rule would stay on.",
        bad=_CONFIG.replace("entry", "enrty"),
        good=_CONFIG,
        source="spec/cli.md Project file",
        check=elsewhere,
    ),
    Rule(
        code="NSP002",
        name="entry-not-found",
        severity="error",
        summary="The entry that the project file or the call names does not exist.",
        why="Without its entry there is nothing to build.",
        bad=_CONFIG.replace("plugin.py", "plugn.py"),
        good=_CONFIG,
        source="spec/cli.md Project file",
        check=elsewhere,
    ),
    Rule(
        code="NSP003",
        name="entry-raised",
        severity="error",
        summary="A source cannot be read, or importing the entry raised an exception or ended the process.",
        why="A host imports the entry as build does, and fails as it does. lint imports nothing, and says what cannot be read.",
        bad="import os\n\nTOKEN = os.environ['TOKEN']\n\n" + _PLUGIN,
        good=_PLUGIN,
        source="spec/cli.md build",
        check=elsewhere,
    ),
    Rule(
        code="NSP004",
        name="no-plugin-defined",
        severity="error",
        summary="The attribute of the entry that should hold the definition is missing or holds something else.",
        why="NextSkin looks for a module attribute made by define_plugin, Cogover for a list of what define_job made.",
        bad=_PLUGIN.replace("plugin = ", "_plugin = "),
        good=_PLUGIN,
        source="spec/sdk.md; spec/cogover.md D1",
        check=elsewhere,
    ),
    Rule(
        code="NSP005",
        name="entry-timed-out",
        severity="error",
        summary="Importing the entry did not end within the time limit of build.",
        why="An entry that waits, loops or asks for input at its top level keeps a host from starting.",
        bad="import time\n\nwhile True:\n    time.sleep(60)\n",
        good=_PLUGIN,
        source="spec/cli.md build",
        check=elsewhere,
    ),
)

STRUCTURE: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP006",
        name="unknown-key",
        severity="error",
        summary="A key that has no meaning where it stands.",
        why="A misspelt maxAttempt would silently mean the default, and the job be tried more often than its author wrote.",
        bad=_MANIFEST.replace("maxAttempts", "maxAttempt"),
        good=_MANIFEST,
        source="spec/nextskin.md D8; spec/cogover.md D2",
        check=elsewhere,
    ),
    Rule(
        code="NSP007",
        name="wrong-type",
        severity="error",
        summary="A value of another type than the one that belongs there; nothing is converted.",
        why='"5", true and null are no integers: to guess what they were meant to be would hide the mistake.',
        bad=_MANIFEST.replace(": 3", ': "3"'),
        good=_MANIFEST,
        source="spec/nextskin.md D8",
        check=elsewhere,
    ),
    Rule(
        code="NSP008",
        name="missing-key",
        severity="error",
        summary="A key that must be there is not.",
        why="It has no default: a schedule without a job, or a job without a key, starts nothing.",
        bad=_MANIFEST.replace(', "job": "expire"', ""),
        good=_MANIFEST,
        source="spec/manifest.md",
        check=elsewhere,
    ),
)

MANIFEST: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP601",
        name="manifest-unreadable",
        severity="error",
        summary="The manifest is not JSON that every reader would understand in the same way.",
        why="Duplicate keys, NaN, a byte order mark or half a character are read differently by different programs,"
        " so that what was checked would not be what runs.",
        bad=_MANIFEST.replace('"entry"', '"id": "other",\n  "entry"'),
        good=_MANIFEST,
        source="spec/manifest.md M6",
        check=elsewhere,
    ),
    Rule(
        code="NSP602",
        name="manifest-version-unsupported",
        severity="error",
        summary="The manifest is of a version that this tool does not read.",
        why="A newer version may mean something else by the same keys; to guess would be worse than to refuse.",
        bad=_MANIFEST.replace('"manifestVersion": 1', '"manifestVersion": 2'),
        good=_MANIFEST,
        source="spec/manifest.md M7",
        check=elsewhere,
    ),
    Rule(
        code="NSP603",
        name="digest-mismatch",
        severity="error",
        summary="The manifest is not the one whose digest was given.",
        why="Either the file was changed after it was built, or the digest belongs to another build.",
        bad=f"nsplugin check plugin.manifest.json --digest sha256:{'0' * 64}\n",
        good="nsplugin check plugin.manifest.json --digest sha256:…   # the digest that build printed\n",
        source="spec/manifest.md M4",
        check=elsewhere,
    ),
    Rule(
        code="NSP604",
        name="engines-disagree",
        severity="error",
        summary="Two independent engines disagree on a schedule (croniter) or on a payload schema (jsonschema).",
        why="A host may use either: what one takes, the other would refuse. Please report it as a bug of nsplugin.",
        bad="A schedule that nsplugin accepts and croniter refuses, or the other way round; none is known.\n",
        good=_MANIFEST,
        source="spec/cli.md Rule codes",
        check=elsewhere,
    ),
)

SOURCE: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP901",
        name="needless-ignore",
        severity="warning",
        summary="An ignore comment silences nothing on its line.",
        why="It would hide the next fault of that kind that somebody writes there.",
        bad=_PLUGIN.replace("jobs={", "jobs={  # nsplugin: ignore[NSP101]\n    ").replace("})", "\n})"),
        good=_PLUGIN,
        source="spec/cli.md Project file",
        check=elsewhere,
    ),
)

BY_CODE: Final = {rule.code: rule for rule in (*LOADING, *STRUCTURE, *MANIFEST, *SOURCE)}


def problem(code: str, found: Found) -> Problem:
    """A finding of one of the rules above. Raises ``KeyError`` for another code."""
    return BY_CODE[code].problem(found)
