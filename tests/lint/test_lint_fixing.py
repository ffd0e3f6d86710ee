"""--fix and --diff. Only the literal's own characters change, and never for the worse."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lint_world import findings, lint, plugin, write
from nsplugin.record import replace
from nsplugin.rules._family import Problem
from nsplugin_cli.lint import fixing, judging
from nsplugin_cli.lint.judging import Judged

MENDED = [
    ("@daily", "0 0 * * *"),
    ("0 3 * * MON-FRI", "0 3 * * 1-5"),
    ("0 3 * JAN MON", "0 3 * 1 1"),
    ("0 3 * * 1, 2", "0 3 * * 1,2"),
    ("0 3 * * *", "0 3 * * *"),
    ("0\\n3 * * *", "0 3 * * *"),
    ("0\\u00a03 * * *", "0 3 * * *"),
]


@pytest.mark.parametrize(("before", "after"), MENDED)
def test_a_cron_text_is_mended(tmp_path: Path, before: str, after: str) -> None:
    write(tmp_path, plugin_py=plugin(before))
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == plugin(after)
    assert findings(tmp_path) == []


OTHER_CRON = ["5/10 * * * *", "0 3 ? * *", "0 0 3 * * *", "0 3 * * 1;2", "TZ=UTC 0 3 * * *", "0 3 * JAN/2 *"]
"""Other than white space, macros and names: there is a hint, and no fix."""


@pytest.mark.parametrize("text", ["0 24 * * *", "0 3 30 2 *", "7 0 3 * * *", "0 3 * * 1#2", "H 3 * * *", *OTHER_CRON])
def test_what_has_no_one_meaning_is_left_alone(tmp_path: Path, text: str) -> None:
    write(tmp_path, plugin_py=plugin(text))
    said = lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == plugin(text)
    assert (said.code, said.err) == (1, "nothing that is safe to mend\n")


OPTIONS = [
    ("delay_secs=5", "delay_sec=5"),
    ("delaySec=5", "delay_sec=5"),
    ("dedup_key='a'", "dedupe_key='a'"),
    ("paylod={}", "payload={}"),
    ("options={'delay_sec': 5}", "options={'delaySec': 5}"),
    ("delay=5", "delay=5"),
    ("delay_msec=5000", "delay_msec=5000"),
    ("delay_secs=5, delay_sec=6", "delay_secs=5, delay_sec=6"),
    ("delay_secs=5, options={'delaySec': 6}", "delay_secs=5, options={'delaySec': 6}"),
    ("**{'delay_secs': 5}", "**{'delay_secs': 5}"),
]
"""What may be in another unit, or is given already, is the author's to mend."""


@pytest.mark.parametrize(("before", "after"), OPTIONS)
def test_a_misspelt_argument_of_enqueue_is_mended_when_one_is_meant(tmp_path: Path, before: str, after: str) -> None:
    source = plugin().replace('ctx.log.info("tidied")', f"await ctx.jobs.enqueue('tidy', {before})")
    write(tmp_path, plugin_py=source)
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == source.replace(before, after)
    assert findings(tmp_path) == [] or before == after


@pytest.mark.parametrize(
    ("before", "after"),
    [("delay_s=60", "delay_s=60"), ("run_in=60_000", "run_in=60_000"), ("delayMs=60_000", "delay_ms=60_000")],
)
def test_an_argument_of_cogovers_enqueue_keeps_its_unit(tmp_path: Path, before: str, after: str) -> None:
    source = (
        "from nsplugin.cogover import define_job\n\n\n@define_job(key='sync')\n"
        f"async def sync(jobs):\n    await jobs.enqueue('sync', {before})\n\n\njobs = [sync]\n"
    )
    write(tmp_path, plugin_py=source)
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == source.replace(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [("{ delaySecs: 5 }", "{ delaySec: 5 }"), ("{ 'delaySecs': 5 }", "{ 'delaySec': 5 }"), ("{ delaySecs }", "{ delaySecs }")],
)
def test_a_misspelt_option_of_enqueue_in_typescript_is_mended(tmp_path: Path, before: str, after: str) -> None:
    source = (
        'import { definePlugin } from "@nextskin/plugin-sdk";\n\nconst delaySecs = 5;\nexport default definePlugin({\n'
        '  id: "tidy",\n  jobs: { tidy: { async handler({ ctx }) {\n'
        f'    await ctx.jobs.enqueue("tidy", {{}}, {before});\n  }} }} }},\n}});\n'
    )
    write(tmp_path, plugin_ts=source)
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.ts").read_text() == source.replace(before, after)


NAMES = [
    ("max_attempt=5", "max_attempts=5"),
    ("maxAttempts=5", "max_attempts=5"),
    ("timeout=1000", "timeout=1000"),
]


@pytest.mark.parametrize(("before", "after"), NAMES)
def test_a_misspelt_parameter_is_mended_when_one_is_meant(tmp_path: Path, before: str, after: str) -> None:
    source = plugin().replace("Job(tidy)", f"Job(tidy, {before})")
    write(tmp_path, plugin_py=source)
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == source.replace(before, after)


def test_a_misspelt_job_is_mended_when_one_is_meant(tmp_path: Path) -> None:
    source = plugin().replace('job="tidy"', "job='tidi'")
    write(tmp_path, plugin_py=source)
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == plugin().replace('job="tidy"', "job='tidy'")


def test_of_two_near_jobs_none_is_chosen(tmp_path: Path) -> None:
    source = plugin().replace('{"tidy": Job(tidy)}', '{"tidy1": Job(tidy), "tidy2": Job(tidy)}')
    write(tmp_path, plugin_py=source)
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == source


IMPORT = "import { definePlugin } from '@nextskin/plugin-sdk'\n"
TYPESCRIPT = """import { definePlugin } from '@nextskin/plugin-sdk'

export default definePlugin({
  jobs: { tidy: { maxAttempt: 5, 'timeoutMS': 5000, handler() {} } },
  cron: [{ schedule: "@hourly", job: `tydyy` }],
})
"""


def test_typescript_is_mended_in_its_own_spelling(tmp_path: Path) -> None:
    write(tmp_path, plugin_ts=TYPESCRIPT)
    lint(tmp_path, "--fix")
    mended = TYPESCRIPT.replace("maxAttempt:", "maxAttempts:").replace("timeoutMS", "timeoutMs")
    mended = mended.replace("@hourly", "0 * * * *").replace("tydyy", "tidy")
    assert (tmp_path / "plugin.ts").read_text() == mended
    assert findings(tmp_path) == []


def test_line_ends_byte_order_mark_encoding_and_mode_stay(tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    source = "\ufeff# Größe: \t漢字\r\n" + plugin("@daily").replace("\n", "\r\n").rstrip() + "\f# Ende"
    path.write_bytes(source.encode())
    path.chmod(0o640)
    lint(tmp_path, "--fix")
    assert path.read_bytes().decode() == source.replace("@daily", "0 0 * * *")
    assert path.stat().st_mode & 0o777 == 0o640
    latin = "# -*- coding: latin-1 -*-\n# Größe\n" + plugin("@daily")
    path.write_bytes(latin.encode("latin-1"))
    lint(tmp_path, "--fix")
    assert path.read_bytes() == latin.replace("@daily", "0 0 * * *").encode("latin-1")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    write(tmp_path, real__it_py=plugin("@daily"))
    (tmp_path / "plugin.py").symlink_to("real/it.py")
    lint(tmp_path, "--fix", "plugin.py")
    assert (tmp_path / "plugin.py").is_symlink()
    assert (tmp_path / "real" / "it.py").read_text() == plugin("0 0 * * *")


def test_no_link_below_a_folder_leads_out_of_it(tmp_path: Path) -> None:
    """git stores links, so a change that is sent for review may bring some."""
    write(tmp_path, repo__plugin_py=plugin("@daily"), other_py=plugin("@weekly"))
    repository = tmp_path / "repo"
    (repository / ".git").mkdir()
    (repository / "out.py").symlink_to("../other.py")
    (repository / "same.py").symlink_to("plugin.py")
    said = lint(repository, "--fix", ".")
    assert (tmp_path / "other.py").read_text() == plugin("@weekly")
    assert (repository / "plugin.py").read_text() == plugin("0 0 * * *")
    assert f"out.py was not mended: it is a link to a file outside of {repository}: name that file itself\n" in said.err
    assert "changed meanwhile" not in said.err
    lint(repository, "--fix", "out.py")
    assert (tmp_path / "other.py").read_text() == plugin("0 0 * * 0")


def test_a_file_of_two_names_is_mended_once_by_its_own(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=plugin("@daily"))
    (tmp_path / "a_link.py").symlink_to("plugin.py")
    assert lint(tmp_path, "--diff")[1:] == (DIFFERENCE, "would mend 1 finding in 1 file\n")
    assert lint(tmp_path, "--fix").err == "mended 1 finding in 1 file\n"
    assert (tmp_path / "a_link.py").is_symlink()
    assert findings(tmp_path) == []


def test_diff_shows_no_file_that_fix_would_leave_alone(tmp_path: Path) -> None:
    write(tmp_path, repo__plugin_py=plugin(), other_py=plugin("@weekly"))
    (tmp_path / "repo" / "out.py").symlink_to("../other.py")
    said = lint(tmp_path / "repo", "--diff")
    assert (said.code, said.out) == (1, "")
    assert said.err == f"out.py was not mended: it is a link to a file outside of {tmp_path / 'repo'}: name that file itself\n"
    assert "+++ b/out.py" in lint(tmp_path / "repo", "--diff", "out.py").out


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=plugin("@daily"))
    (tmp_path / "plugin.py").chmod(0o444)
    assert lint(tmp_path, "--fix").err == "plugin.py was not mended: it is read-only\n"
    assert (tmp_path / "plugin.py").read_text() == plugin("@daily")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner_and_lends_no_rights(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=plugin("@daily"))
    os.chown(tmp_path / "plugin.py", 1234, 1234)
    (tmp_path / "plugin.py").chmod(0o4755)
    lint(tmp_path, "--fix")
    found = (tmp_path / "plugin.py").stat()
    assert (found.st_uid, found.st_mode & 0o7777) == (1234, 0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_whose_owner_cannot_be_kept_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, plugin_py=plugin("@daily"))
    os.chown(tmp_path / "plugin.py", 1234, 1234)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    said = lint(tmp_path, "--fix", "--no-cache")
    assert said.err == "plugin.py was not mended: it is another user's or group's, and would not stay so\n"
    assert [path.name for path in tmp_path.iterdir()] == ["plugin.py"]
    assert (tmp_path / "plugin.py").read_text() == plugin("@daily")


def test_names_with_control_characters_are_shown_escaped(tmp_path: Path) -> None:
    (tmp_path / "e\x1b[31m\nx.py").write_text(plugin("@daily"))
    for arguments in (["--diff"], ["--fix"], ["no\n::such"]):
        said = lint(tmp_path, *arguments)
        assert "\x1b" not in said.out + said.err and "\n::" not in said.err and "\nx.py" not in said.out


@pytest.mark.parametrize("named", ["plugin.py", "."])
def test_a_file_of_several_names_is_left_alone(tmp_path: Path, named: str) -> None:
    write(tmp_path, plugin_py=plugin("@daily"), more__other_py=plugin("@weekly"))
    (tmp_path / ".other").hardlink_to(tmp_path / "plugin.py")
    said = lint(tmp_path, "--fix", named)
    assert (tmp_path / "plugin.py").read_text() == plugin("@daily")
    assert (tmp_path / "plugin.py").samefile(tmp_path / ".other")
    why = "plugin.py was not mended: it has 2 names (hard links), which a new file would part; --diff shows what to change\n"
    assert said.err == why + ("mended 1 finding in 1 file\n" if named == "." else "")
    assert said.code == 1


def test_nothing_else_changes_and_a_second_time_nothing_at_all(tmp_path: Path) -> None:
    source = plugin("@daily").replace("\n\n\n", "\n\n\nX = '@daily'; Y = [1,2 ,3]   # @daily\n", 1)
    write(tmp_path, plugin_py=source)
    assert lint(tmp_path, "--fix").err == "mended 1 finding in 1 file\n"
    mended = source.replace('Cron("@daily"', 'Cron("0 0 * * *"')
    assert (tmp_path / "plugin.py").read_text() == mended
    before = (tmp_path / "plugin.py").stat()
    assert lint(tmp_path, "--fix").err == "nothing that is safe to mend\n"
    assert (tmp_path / "plugin.py").stat().st_ino == before.st_ino


HEAD = "from nsplugin import Context, Cron, Job, define_plugin\n\nasync def tidy(ctx: Context) -> None: ...\n\n"
SHARED = {
    "text.py": 'S = "@daily"\nprint(S)\ndefine_plugin(id="a", jobs={"tidy": Job(tidy)}, cron=[Cron(S, job="tidy")])\n',
    "job.py": 'N = "tidi"\nprint(N)\ndefine_plugin(id="a", jobs={"tidy": Job(tidy)}, cron=[Cron("0 3 * * *", job=N)])\n',
    "walrus.py": 'define_plugin(id="a", jobs={"tidy": Job(tidy)}, cron=[Cron(S := "@daily", job="tidy")])\nprint(S)\n',
    "key.py": (
        'SPEC = {"handler": tidy, "maxattempts": 3}\nprint(SPEC["maxattempts"])\ndefine_plugin(id="a", jobs={"tidy": SPEC})\n'
    ),
    "option.py": (
        'SPEC = {"max_attempt": 3}\nprint(SPEC["max_attempt"])\ndefine_plugin(id="a", jobs={"tidy": Job(tidy, **SPEC)})\n'
    ),
}
SHARED_TYPESCRIPT = {
    "shorthand.ts": "const maxAttempt = 3\nexport default definePlugin({ jobs: { tidy: { maxAttempt, handler() {} } } })\n",
    "spread.ts": (
        "const base = { maxAttempt: 3 }\nconsole.log(base.maxAttempt)\n"
        "export default definePlugin({ jobs: { tidy: { ...base, handler() {} } } })\n"
    ),
    "text.ts": (
        'const S = "@daily"\nconsole.log(S)\n'
        'export default definePlugin({ jobs: { tidy: { handler() {} } }, cron: [{ schedule: S, job: "tidy" }] })\n'
    ),
}


@pytest.mark.parametrize("name", [*SHARED, *SHARED_TYPESCRIPT])
def test_what_a_name_holds_may_be_in_use_elsewhere_and_is_left_alone(tmp_path: Path, name: str) -> None:
    source = HEAD + SHARED[name] if name in SHARED else IMPORT + SHARED_TYPESCRIPT[name]
    (tmp_path / name).write_text(source)
    assert findings(tmp_path)
    assert lint(tmp_path, "--fix").err == "nothing that is safe to mend\n"
    assert (tmp_path / name).read_text() == source


def test_an_imported_name_is_the_same_call(tmp_path: Path) -> None:
    source = plugin("@daily").replace("Cron,", "Cron as C,").replace("Cron(", "C(")
    write(tmp_path, plugin_py=source)
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == source.replace("@daily", "0 0 * * *")


@pytest.mark.parametrize("written", ["f'@daily'", "'@dai' 'ly'", "'''@daily'''", "'@dai' + 'ly'", "'\\x40daily'", "r'@daily'"])
def test_however_the_text_is_written_the_file_never_becomes_worse(tmp_path: Path, written: str) -> None:
    write(tmp_path, plugin_py=plugin().replace('"0 3 * * *"', written))
    before = findings(tmp_path)
    lint(tmp_path, "--fix")
    assert findings(tmp_path) in (before, [])


def test_ignored_and_unselected_findings_are_not_mended(tmp_path: Path) -> None:
    source = plugin("@daily").replace('tidy")])', 'tidy")])  # nsplugin: ignore[NSP202]')
    write(tmp_path, plugin_py=source)
    lint(tmp_path, "--fix")
    assert (tmp_path / "plugin.py").read_text() == source
    write(tmp_path, plugin_py=plugin("@daily"))
    lint(tmp_path, "--fix", "--ignore", "NSP202")
    assert (tmp_path / "plugin.py").read_text() == plugin("@daily")


def test_a_comment_that_moves_with_the_edit_stays_what_it_is(tmp_path: Path) -> None:
    source = plugin("@daily").replace('tidy")])', 'tidyy")])  # nsplugin: ignore[NSP209]')
    write(tmp_path, plugin_py=source)
    assert lint(tmp_path, "--fix").err == "mended 2 findings in 1 file\n"
    assert (tmp_path / "plugin.py").read_text() == source.replace("@daily", "0 0 * * *").replace("tidyy", "tidy")


DIFFERENCE = """--- a/plugin.py
+++ b/plugin.py
@@ -5,4 +5,4 @@
     ctx.log.info("tidied")
{blank}
{blank}
-plugin = define_plugin(id="tidy", jobs={"tidy": Job(tidy)}, cron=[Cron("@daily", job="tidy")])
+plugin = define_plugin(id="tidy", jobs={"tidy": Job(tidy)}, cron=[Cron("0 0 * * *", job="tidy")])
""".replace("{blank}", " ")


def test_diff_shows_and_changes_nothing_unless_fix_is_asked_for_too(tmp_path: Path) -> None:
    write(tmp_path, plugin_py=plugin("@daily"))
    said = lint(tmp_path, "--diff")
    assert said == (1, DIFFERENCE, "would mend 1 finding in 1 file\n")
    assert (tmp_path / "plugin.py").read_text() == plugin("@daily")
    said = lint(tmp_path, "--fix", "--diff")
    assert said == (0, DIFFERENCE + "No problems in 1 file.\n", "mended 1 finding in 1 file\n")
    assert (tmp_path / "plugin.py").read_text() == plugin("0 0 * * *")


def test_a_terminal_is_shown_control_characters_escaped(tmp_path: Path) -> None:
    """In a pipe the difference is a patch, byte by byte; on a terminal it is for the eye."""
    write(tmp_path, plugin_py=plugin("@daily").replace("\n\nplugin", "# \x1b[2J\tx\x0cy\r\n\nplugin"))
    assert " # \x1b[2J\tx\x0cy\r\n" in lint(tmp_path, "--diff").out
    ours, theirs = os.openpty()
    subprocess.run([sys.executable, "-m", "nsplugin_cli", "lint", "--diff"], cwd=tmp_path, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    assert " # \\x1b[2J\tx\\x0cy\r" in said and "\x1b" not in said


def test_a_difference_is_a_patch_whatever_ends_a_line_in_python(tmp_path: Path) -> None:
    source = plugin("@daily").replace("\n\nplugin", "\x0c\n# a\x85b\u2028c\x1cd\nplugin") + "X = 1\n"
    write(tmp_path, plugin_py=source)
    said = lint(tmp_path, "--diff").out
    assert "No newline" not in said
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=said.encode(), check=True)
    assert (tmp_path / "plugin.py").read_bytes() == source.replace("@daily", "0 0 * * *").encode()


def test_standard_input_is_mended_to_standard_output(tmp_path: Path) -> None:
    said = lint(tmp_path, "--fix", "-", stdin=plugin("@daily").encode())
    assert (said.code, said.out) == (0, plugin("0 0 * * *"))
    said = lint(tmp_path, "--fix", "-", stdin=plugin("0 24 * * *").encode())
    assert (said.code, said.out) == (1, plugin("0 24 * * *"))
    assert "stdin.py:8:75: error NSP203" in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [["--format", "json"], ["--format", "sarif"], ["--statistics"], ["--diff"]])
def test_standard_output_holds_the_mended_text_and_nothing_else(tmp_path: Path, option: list[str]) -> None:
    said = lint(tmp_path, "--fix", "-", *option, stdin=plugin("@daily").encode())
    assert (said.code, said.out) == (2, "")
    assert said.err.endswith("Error: --fix - prints the mended text alone: leave out --format, --diff and --statistics\n")


def test_a_folder_that_takes_no_file_leaves_all_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, plugin_py=plugin("@daily"))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    said = lint(tmp_path, "--fix", "--no-cache")
    assert "plugin.py was not mended: Permission denied\n" in said.err
    assert said.code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["plugin.py"]
    assert (tmp_path / "plugin.py").read_text() == plugin("@daily")


def test_one_change_for_the_worse_keeps_no_other_from_being_made(tmp_path: Path) -> None:
    jobs, crons = (", ".join(each.format(n) for n in range(16)) for each in ('"j{}": Job(tidy)', 'Cron("@daily", job="j{}")'))
    source = plugin().replace('{"tidy": Job(tidy)}', f"{{{jobs}}}").replace('Cron("0 3 * * *", job="tidy")', crons)
    path = str(write(tmp_path, plugin_py=source) / "plugin.py")

    def judge(data: bytes) -> Judged:
        judged = judging.judge(data, path, judging.Setting(), None)
        worse = Problem(code="NSP999", name="worse", severity="error", pointer="", message="worse")
        kept = b'Cron("@daily", job="j7")' in data
        return judged if kept else replace(judged, problems=(*judged.problems, worse))

    mended = fixing.mend(path, source.encode(), judge, lambda judged: judged.problems)
    assert mended is not None and mended.findings == 15
    assert mended.after.decode() == source.replace("@daily", "0 0 * * *").replace(
        'Cron("0 0 * * *", job="j7")', 'Cron("@daily", job="j7")'
    )
