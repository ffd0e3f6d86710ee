"""``build``: which plugins a path means, where manifests go, and that the bytes are the same everywhere."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import fixture_runs

NSPLUGIN = [sys.executable, "-m", "nsplugin_cli"]
FIXTURE = fixture_runs.FIXTURES / "good/cache-expiry"
NEXTSKIN = 'from nsplugin import Job, define_plugin\n\nplugin = define_plugin(id="{id}", jobs={{"a": Job(lambda: None)}})\n'
COGOVER = 'from nsplugin.cogover import define_job\n\njobs = [define_job({{"key": "{id}"}}, lambda: None)]\n'


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def plugin(path: str, text: str = NEXTSKIN, plugin_id: str = "a", config: str | None = None) -> None:
    """Write an entry, and a project file beside it."""
    entry = Path(path)
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text(text.format(id=plugin_id), encoding="utf-8")
    if config is not None:
        entry.with_name("nsplugin.toml").write_text(config, encoding="utf-8")


def build(*arguments: str) -> tuple[int, dict[str, list[dict[str, object]]]]:
    """Exit code and report."""
    code, out, err = fixture_runs.call(["build", *arguments, "--format", "json"])
    assert out, err
    return code, json.loads(out)


def manifests(*arguments: str) -> list[object]:
    code, report = build(*arguments)
    assert (code, report["diagnostics"]) == (0, [])
    return [item["manifest"] for item in report["plugins"]]


class TestDiscovery:
    def test_the_current_folder_is_the_default(self) -> None:
        plugin("plugin.py")
        assert manifests() == ["dist/plugin.manifest.json"]

    @pytest.mark.parametrize(("entry", "text"), [("plugin.py", NEXTSKIN), ("main.py", COGOVER), ("main.py", NEXTSKIN)])
    def test_a_folder_without_a_project_file_is_guessed(self, entry: str, text: str) -> None:
        plugin(entry, text, config=None)
        if text is COGOVER:
            Path("nsplugin.toml").write_text('id = "a"\n')
        assert manifests() == [f"dist/{Path(entry).stem}.manifest.json"]

    def test_pyproject_counts_when_it_has_a_table_of_ours(self) -> None:
        plugin("src/app.py")
        Path("pyproject.toml").write_text('[project]\nname = "x"\n\n[tool.nsplugin]\nentry = "src/app.py"\n')
        assert manifests() == ["dist/app.manifest.json"]
        assert json.loads(Path("dist/app.manifest.json").read_text())["entry"] == "src.app:plugin"

    def test_nsplugin_toml_goes_before_pyproject(self) -> None:
        plugin("one.py", config='entry = "one.py"\n')
        Path("pyproject.toml").write_text('[tool.nsplugin]\nentry = "two.py"\n')
        assert manifests() == ["dist/one.manifest.json"]

    def test_the_nearest_project_file_above_counts(self) -> None:
        plugin("a/plugin.py", config='entry = "plugin.py"\n')
        Path("a/tests/deep").mkdir(parents=True)
        assert manifests("a/tests/deep") == ["a/dist/plugin.manifest.json"]

    def test_every_plugin_below_a_folder_is_built(self) -> None:
        plugin("a/plugin.py", plugin_id="a")
        plugin("b/c/main.py", COGOVER, plugin_id="b", config='id = "b"\n')
        for skipped in (".hidden/plugin.py", "node_modules/plugin.py", "a/inner/plugin.py"):
            plugin(skipped)
        plugin("tool/main.py", "print('no plugin {id}')")
        assert manifests(".") == ["a/dist/plugin.manifest.json", "b/c/dist/main.manifest.json"]

    def test_paths_that_mean_the_same_plugin_build_it_once(self) -> None:
        plugin("a/plugin.py", config='entry = "plugin.py"\n')
        assert manifests("a", "a/plugin.py", "a/nsplugin.toml", "./a") == ["a/dist/plugin.manifest.json"]

    def test_another_file_than_the_entry_can_be_named(self) -> None:
        plugin("a/plugin.py", config='entry = "plugin.py"\nid = "a"\n')
        plugin("a/other.py", 'from nsplugin import Job, define_plugin\nplugin = define_plugin(jobs={{"a": Job(lambda: 0)}})\n')
        assert manifests("a/other.py") == ["a/dist/other.manifest.json"]

    @pytest.mark.parametrize(
        ("entry", "source"),
        [("pkg.mod:app", "pkg/mod.py"), ("pkg:app", "pkg/__init__.py"), ("my-app.py:app", "my-app.py"), ("./x.py:app", "x.py")],
    )
    def test_an_entry_may_name_a_module_and_its_attribute(self, entry: str, source: str) -> None:
        plugin(source, NEXTSKIN.replace("plugin =", "app ="))
        Path("nsplugin.toml").write_text(f'entry = "{entry}"\n')
        (path,) = manifests()
        assert json.loads(Path(str(path)).read_text())["entry"].endswith(":app")

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.json", "a.json is no source: to judge a manifest, use nsplugin check"),
            ("a.ts", "a.ts is built by its platform's own tools: nsplugin builds Python"),
            ("a.txt", "a.txt is no plugin: name a folder, a project file or a .py file"),
        ],
    )
    def test_a_file_that_is_no_python_is_a_wrong_call(self, name: str, text: str) -> None:
        Path(name).write_text("{}")
        assert fixture_runs.call(["build", name]) == (2, "", f"Error: {text}\n")

    def test_a_folder_that_is_gone_is_a_wrong_call(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        code, out, err = fixture_runs.call(["build", "."])
        assert (code, out, err) == (2, "", "Error: the current folder does not exist any more: go to another one\n")


class TestFindings:
    def one(self, *arguments: str) -> tuple[int, dict[str, object]]:
        code, report = build(*arguments)
        (finding,) = report["diagnostics"]
        assert report["plugins"] == []
        return code, finding

    def test_nothing_to_build(self) -> None:
        Path("empty").mkdir()
        code, finding = self.one("empty")
        assert (code, finding["code"], finding["path"]) == (1, "NSP002", "empty")
        assert finding["message"] == "there is no plugin here: no nsplugin.toml, plugin.py, main.py"
        assert finding["hint"] == "start one with: nsplugin init empty"

    def test_an_entry_that_does_not_exist(self) -> None:
        plugin("plugin.py", config='id = "a"\nentry = "plugn.py"\n')
        code, finding = self.one()
        assert (code, finding["code"], finding["path"]) == (1, "NSP002", "nsplugin.toml")
        assert (finding["line"], finding["column"], finding["endColumn"]) == (2, 9, 19)
        assert finding["hint"] == 'did you mean "plugin.py"?'

    def test_a_module_that_does_not_exist(self) -> None:
        Path("nsplugin.toml").write_text('entry = "no_such.module:plugin"\n')
        code, finding = self.one()
        assert (code, finding["code"], finding["message"]) == (1, "NSP002", 'there is no module "no_such.module"')

    def test_a_module_that_python_finds_elsewhere(self) -> None:
        plugin("json.py", config='entry = "json.py"\n')
        code, finding = self.one()
        assert (code, finding["code"], finding["hint"]) == (1, "NSP002", "rename the entry's file")

    def test_a_definition_under_another_name(self) -> None:
        plugin("plugin.py", NEXTSKIN.replace("plugin =", "plugn ="))
        code, finding = self.one()
        assert (code, finding["code"], finding["line"]) == (1, "NSP004", 3)
        assert finding["message"] == "the module plugin has no attribute `plugin` or `jobs`"
        assert str(finding["hint"]).startswith("`plugn` holds a definition: rename it to `plugin`")

    def test_no_definition(self) -> None:
        plugin("plugin.py", "x = 1\n")
        assert self.one()[1]["code"] == "NSP004"

    def test_an_attribute_of_another_kind(self) -> None:
        plugin("plugin.py", "plugin = 5\n")
        assert self.one()[1]["code"] == "NSP004"

    def test_a_definition_that_nobody_holds_is_judged_too(self) -> None:
        plugin("plugin.py", NEXTSKIN + 'other = define_plugin(id="a b", jobs={{}})\n')
        code, finding = self.one()
        assert (code, finding["code"], finding["line"]) == (1, "NSP110", 4)

    def test_a_warning_alone_is_fine_unless_strict(self) -> None:
        text = NEXTSKIN.replace("None)}}", 'None)}}, cron=[Cron("0 0 1 * 1", job="a")]').replace(
            "import Job", "import Cron, Job"
        )
        plugin("plugin.py", text)
        code, report = build()
        assert [finding["code"] for finding in report["diagnostics"]] == ["NSP209"]
        assert code == 0
        assert build("--strict")[0] == 1

    def test_one_plugin_at_fault_keeps_no_other_from_being_built(self) -> None:
        plugin("a/plugin.py", plugin_id="a")
        plugin("b/plugin.py", plugin_id="b b")
        code, report = build(".")
        assert (code, [item["id"] for item in report["plugins"]]) == (1, ["a"])
        assert report["summary"] == {"files": 2, "errors": 1, "warnings": 0}


class TestDestinations:
    @pytest.mark.parametrize(
        ("out", "expected"),
        [("x.json", "x.json"), ("deep/er/x.json", "deep/er/x.json"), ("folder", "folder/plugin.manifest.json")],
    )
    def test_out_names_a_file_or_a_folder(self, out: str, expected: str) -> None:
        plugin("plugin.py")
        assert manifests("--out", out) == [expected]
        shutil.rmtree(expected.partition("/")[0], ignore_errors=True)
        Path("nsplugin.toml").write_text(f'entry = "plugin.py"\nout = "{out}"\n')
        assert manifests() == [expected]

    def test_two_plugins_that_would_share_a_file(self) -> None:
        plugin("a/plugin.py")
        plugin("b/plugin.py")
        code, out, err = fixture_runs.call(["build", ".", "--out", "x.json"])
        assert (code, out) == (2, "")
        assert err == (
            f"Error: {Path.cwd()}/a/plugin.py and {Path.cwd()}/b/plugin.py would both write x.json: "
            "give --out a folder, or each its own `out` in its nsplugin.toml\n"
        )
        assert not Path("x.json").exists()

    def test_stdout_is_the_manifest_alone(self) -> None:
        plugin("plugin.py")
        code, out, err = fixture_runs.call(["build", "--stdout"])
        assert (code, json.loads(out)["id"]) == (0, "a")
        assert err.startswith("a (NextSkin)\n")
        assert not Path("dist").exists()

    def test_check_writes_nothing_and_tells_what_is_stale(self) -> None:
        plugin("plugin.py")
        for message in ("it does not exist", "it is not what build writes from the source as it is now"):
            code, report = build("--check")
            (finding,) = report["diagnostics"]
            assert (code, finding["code"], finding["path"]) == (1, "NSP603", "dist/plugin.manifest.json")
            assert finding["message"] == message
            if message == "it does not exist":
                assert not Path("dist").exists()
                plugin("dist/plugin.manifest.json", "{{}}")
        assert Path("dist/plugin.manifest.json").read_text() == "{}"
        manifests()
        assert manifests("--check") == ["dist/plugin.manifest.json"]

    def test_a_place_that_cannot_be_written(self) -> None:
        plugin("plugin.py")
        Path("dist").write_text("a file")
        code, out, err = fixture_runs.call(["build"])
        assert (code, out) == (2, "")
        place = Path.cwd() / "dist/plugin.manifest.json"
        assert err == f"Error: cannot write a manifest to {place}: {place.parent} is no folder\n"

    def test_a_manifest_that_is_up_to_date_is_not_touched(self) -> None:
        plugin("plugin.py")
        manifests()
        before = Path("dist/plugin.manifest.json").stat()
        manifests()
        after = Path("dist/plugin.manifest.json").stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)

    def test_many_builds_at_once_leave_one_whole_manifest(self) -> None:
        plugin("plugin.py")
        with ThreadPoolExecutor(4) as pool:
            codes = list(pool.map(lambda _: subprocess.run([*NSPLUGIN, "build"], capture_output=True).returncode, range(8)))
        assert codes == [0] * 8
        assert [path.name for path in Path("dist").iterdir()] == ["plugin.manifest.json"]
        assert json.loads(Path("dist/plugin.manifest.json").read_text())["id"] == "a"


class TestReproducibility:
    """The same source gives the same bytes under another hash seed, locale, folder, umask (spec/manifest.md M3)."""

    def test_the_bytes_depend_on_the_source_alone(self, tmp_path: Path) -> None:
        expected = (FIXTURE / "manifest.json").read_bytes()
        settings = itertools.product(("0", "42"), ("C", "tr_TR.UTF-8"), ("a", "b ü"), (0o000, 0o077))
        for number, (seed, locale, name, mask) in enumerate(settings):
            folder = tmp_path / str(number) / name
            shutil.copytree(FIXTURE, folder)
            environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": "Asia/Tokyo"}
            command = ["sh", "-c", f'umask {mask:03o}; exec "$@"', "sh", *NSPLUGIN, "build"]
            subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
            assert (folder / "dist/plugin.manifest.json").read_bytes() == expected

    def test_the_source_folder_gains_nothing_but_the_manifest(self) -> None:
        plugin("plugin.py", "import helper_module\n" + NEXTSKIN)
        Path("helper_module.py").write_text("")
        before = {path.name for path in Path().iterdir()}
        manifests()
        assert {path.name for path in Path().iterdir()} == before | {"dist"}


def test_a_payload_schema_that_the_second_engine_refuses_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NSP604: no such schema is known, so the second engine is made to object."""
    monkeypatch.setattr("nsplugin.second_opinion.schema_objection", lambda schema: "it says so")
    source = "from nsplugin import Job, define_plugin\n\n\ndef run(payload):\n    pass\n\n\n"
    source += 'plugin = define_plugin(id="a", jobs={"run": Job(run, payload={"type": "object"})})\n'
    (tmp_path / "plugin.py").write_text(source, encoding="utf-8")
    code, out, _ = fixture_runs.call(["build", str(tmp_path)])
    assert (code, "error NSP604 engines-disagree" in out) == (1, True)
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("plugin = None\n", "plugin.py:1:10: error NSP004"),
        (
            "from nsplugin.cogover import define_job\n\n\njobs = define_job({'key': 'a'}, lambda: None)\n",
            "plugin.py:4:8: error NSP004",
        ),
        (
            "from nsplugin.cogover import define_job\n\njobs = [define_job({'key': 'a'}, lambda: None), 5]\n",
            "plugin.py:3:49: error NSP007",
        ),
        (
            "from nsplugin.cogover import define_job as d\n\njobs = [d({'key': f'a{n}'}, lambda: None) for n in range(51)]\n",
            "plugin.py:3:8: error NSP108",
        ),
    ],
)
def test_what_no_call_shows_is_where_the_module_assigns_it(tmp_path: Path, source: str, place: str) -> None:
    """A finding of build points at the line of the source that caused it wherever that can be known."""
    platform = "cogover" if "cogover" in source else "nextskin"
    (tmp_path / "nsplugin.toml").write_text(f'platform = "{platform}"\nid = "a"\nentry = "plugin.py"\n', encoding="utf-8")
    (tmp_path / "plugin.py").write_text(source, encoding="utf-8")
    code, out, _ = fixture_runs.call(["build", str(tmp_path)])
    assert (code, place in out) == (1, True), out


def test_an_entry_that_names_no_module_is_shown_in_the_project_file(tmp_path: Path) -> None:
    (tmp_path / "nsplugin.toml").write_text('id = "a"\nentry = "plugn:plugin"\n', encoding="utf-8")
    code, out, _ = fixture_runs.call(["build", str(tmp_path)])
    assert code == 1
    frame = out.replace(str(tmp_path), "…").replace(tmp_path.name, "…")
    assert (
        frame.partition("nsplugin.toml:")[2]
        == """\
2:9: error NSP002 entry-not-found
  there is no module "plugn"
  |
2 | entry = "plugn:plugin"
  |         ^^^^^^^^^^^^^^
  hint: modules are looked for in the folder … and among the installed packages

1 error, 0 warnings in 1 file.
`nsplugin explain NSP002` tells more.
"""
    )


class TestIgnores:
    """Warnings can be switched off for build as for lint; errors cannot (spec/cli.md Project file)."""

    EITHER = """from nsplugin import Cron, Job, define_plugin

plugin = define_plugin(
    id="a",
    jobs={{"a": Job(lambda: None)}},
    cron=[Cron("0 3 13 * 5", job="a")],COMMENT
)
"""

    @pytest.mark.parametrize(
        ("config", "comment"),
        [
            ('ignore = ["NSP209"]\n', ""),
            ('ignore = ["cron-day-or"]\n', ""),
            ('select = ["NSP1"]\n', ""),
            ('[per-file-ignores]\n"plugin.py" = ["NSP2"]\n', ""),
            ("", "  # nsplugin: ignore[NSP209]"),
            ("", "  # nsplugin: ignore[NSP2]"),
            (None, "  # nsplugin: ignore[cron-day-or]"),
        ],
    )
    def test_a_warning_that_is_ignored_is_left_out(self, config: str | None, comment: str) -> None:
        plugin("plugin.py", self.EITHER.replace("COMMENT", ""), config=config)
        assert comment == "" or [each["code"] for each in build("--strict")[1]["diagnostics"]] == ["NSP209"]
        plugin("plugin.py", self.EITHER.replace("COMMENT", comment))
        code, report = build("--strict")
        assert (code, report["diagnostics"], len(report["plugins"])) == (0, [], 1)

    @pytest.mark.parametrize(
        ("config", "comment"), [('ignore = ["NSP1"]\n', ""), ('select = ["NSP2"]\n', ""), ("", "  # nsplugin: ignore[NSP104]")]
    )
    def test_an_error_is_never_left_out(self, config: str, comment: str) -> None:
        plugin("plugin.py", NEXTSKIN.replace("lambda: None", "lambda: None, max_attempts=0").rstrip() + comment, config=config)
        code, report = build()
        assert (code, [each["code"] for each in report["diagnostics"]], report["plugins"]) == (1, ["NSP104"], [])
        linted = json.loads(fixture_runs.call(["lint", "--no-cache", "--format", "json"])[1])
        assert linted["diagnostics"] == []


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("from nsplugin import job", "did you mean `Job`?"),
        ("from nsplugin.cogover import define_jobs", "did you mean `define_job`?"),
        ("from nsplugin.cogover import Cron", "`Cron` is one of nsplugin, of the other platform: nsplugin.cogover has"),
        ("from nsplugin import define_job", "`define_job` is one of nsplugin.cogover, of the other platform: nsplugin has"),
        ("from nsplugin import walrus", "nsplugin has"),
    ],
)
def test_a_name_that_the_sdk_does_not_have_is_answered_with_one_that_it_has(line: str, hint: str) -> None:
    plugin("plugin.py", line + "\n")
    (finding,) = build()[1]["diagnostics"]
    assert finding["code"] == "NSP003" and str(finding["hint"]).startswith(hint)


@pytest.mark.parametrize("suffix", ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx"])
def test_a_typescript_file_is_built_by_its_own_tools(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plugin.{suffix}"
    path.write_text("")
    says = f"plugin.{suffix} is built by its platform's own tools: nsplugin builds Python"
    assert fixture_runs.call(["build", str(path)]) == (2, "", f"Error: {says}\n")


def test_a_file_that_no_import_can_name_is_a_wrong_call(tmp_path: Path) -> None:
    path = tmp_path / "a.b.py"
    path.write_text("")
    says = "a.b.py cannot be imported: its name has a dot, write a_b.py"
    assert fixture_runs.call(["build", str(path)]) == (2, "", f"Error: {says}\n")
