"""The commands of a core: what they print, and what they say to a call that cannot work (spec/core.md Commands)."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import fixture_runs
from nsplugin_cli import group
from nsplugin_cli.report import records
from service_world import NSPLUGIN, Site, write_plugin

PLAIN = """
    def work(payload, attempt, ctx):
        note(attempt)
    plugin = define_plugin(jobs={"work": {"handler": work}}, cron=[Cron("0 3 * * *", job="work")])
"""
COGOVER = """
from nsplugin.cogover import define_job

jobs = [define_job({"key": "sync", "schedule": {"cron": "0 2 * * *", "timezone": "UTC+7"}}, lambda context: None)]
"""


def cogover(site: Site) -> None:
    folder = site.folder / "orders"
    folder.mkdir()
    (folder / "main.py").write_text(COGOVER, encoding="utf-8")
    (folder / "nsplugin.toml").write_text('platform = "cogover"\nid = "orders"\n', encoding="utf-8")
    site.run("install", str(folder), "--timezone", "UTC")


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site with a plugin of each platform, for calls that change nothing."""
    folder = tmp_path_factory.mktemp("site")
    site = Site(f"sqlite:///{folder / 'core.db'}", folder)
    site.install(PLAIN)
    cogover(site)
    return site


def test_install_says_what_it_installed_and_where_the_code_lies(local: Site) -> None:
    folder = write_plugin(local.folder / "shop", PLAIN)
    out = local.run("install", str(folder), "--timezone", "Europe/Berlin")
    assert "at 03:00 every day (Europe/Berlin)\n" in out
    assert out.endswith(f"Installed shop 1.0.0 (NextSkin): 1 job, 1 schedule, Europe/Berlin.\n  code: {folder}\n")
    assert not (folder / "dist").exists()
    assert local.run("install", str(folder)).endswith(
        f"Refreshed shop 1.0.0 (NextSkin): 1 job, 1 schedule, Europe/Berlin.\n  code: {folder}\n"
    )


def test_install_asks_for_a_zone_only_where_one_is_needed_and_not_known(local: Site) -> None:
    folder = write_plugin(local.folder / "shop", PLAIN)
    code, _, err = local.call("install", str(folder))
    advice = "name the site's time zone, such as --timezone Europe/Berlin, or `timezone` in the project file"
    assert (code, err) == (2, f"Error: --timezone is missing: {advice}\n")
    with (folder / "nsplugin.toml").open("a") as project:
        project.write('timezone = "Asia/Tokyo"\n')
    assert local.json("install", str(folder))["plugin"]["timezone"] == "Asia/Tokyo"
    assert local.json("install", str(folder), "--timezone", "UTC")["plugin"]["timezone"] == "UTC"
    assert local.json("install", str(folder))["plugin"]["timezone"] == "UTC", "what the site was told last is kept"


def test_d6_a_cogover_project_has_no_site_whose_zone_must_be_named(local: Site) -> None:
    cogover(local)
    local.run("uninstall", "orders", "--yes")
    folder = local.folder / "orders"
    code, _, err = local.call("upgrade", str(folder))
    assert (code, err) == (2, "Error: plugin 'orders' is not installed here: `nsplugin install` installs it\n")
    assert "at 02:00 every day (UTC+07:00)\n" in local.run("install", str(folder))


@pytest.mark.parametrize("made", ["shop", "orders"])
def test_a4_what_is_enqueued_while_a_plugin_is_disabled_waits_and_that_is_said(local: Site, made: str) -> None:
    job = "work" if made == "shop" else "sync"
    if made == "shop":
        local.install(PLAIN)
    else:
        cogover(local)
    local.run("disable", made)
    out = local.run("jobs", "enqueue", made, job)
    assert out.endswith(f" ({made} is disabled: the task waits until `nsplugin enable {made}`)\n")
    assert len(local.json("jobs", "list", "--plugin", made)["tasks"]) == 1


def test_install_takes_a_manifest_and_finds_its_code_above_it(local: Site) -> None:
    folder = write_plugin(local.folder / "shop", PLAIN)
    assert fixture_runs.call(["build", str(folder)])[0] == 0
    manifest = folder / "dist" / "plugin.manifest.json"
    found = local.json("install", str(manifest), "--timezone", "UTC")
    assert (found["created"], found["plugin"]["folder"], found["plugin"]["entry"]) == (True, str(folder), "plugin:plugin")
    moved = local.folder / "elsewhere"
    moved.mkdir()
    assert local.json("install", str(manifest), "--code", str(moved))["plugin"]["folder"] == str(moved)


def test_install_of_a_lone_manifest_says_that_nothing_will_run(local: Site) -> None:
    folder = write_plugin(local.folder / "shop", PLAIN)
    assert fixture_runs.call(["build", str(folder), "--out", str(local.folder / "lone.json")])[0] == 0
    deep = local.folder / "a" / "b"
    deep.mkdir(parents=True)
    (local.folder / "lone.json").rename(deep / "lone.json")
    out = local.run("install", str(deep / "lone.json"), "--timezone", "UTC")
    assert out.endswith("  code: no code: nothing runs until it is installed with --code FOLDER\n")


@pytest.mark.parametrize("form", ["text", "json", "manifest"])
def test_install_refuses_what_check_refuses_in_the_same_words(local: Site, form: str) -> None:
    """spec/core.md: install runs check."""
    value = {
        "manifestVersion": 1, "platform": "nextskin", "id": "shop", "entry": "plugin:plugin", "capabilities": [],
        "jobs": {"1bad": {}}, "cron": [{"schedule": "0 0 31 2 *", "job": "gone"}], "routes": {},
    }  # fmt: skip
    path = local.folder / "plugin.manifest.json"
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    options = ["--format", "json"] if form == "json" else []
    code, out, err = local.call("install", str(path), "--timezone", "UTC", *options)
    wanted, expected, _ = fixture_runs.call(["check", str(path), "--timezone", "UTC", *options])
    assert (code, wanted) == (1, 1)
    assert out.replace('"command": "install"', '"command": "check"') == expected
    assert err == ""
    assert "NSP101" in out and "NSP204" in out and "NSP207" in out
    assert local.call("enable", "shop")[0] == 2


def test_install_refuses_a_plugin_that_does_not_build_at_its_own_lines(local: Site) -> None:
    folder = write_plugin(local.folder / "shop", 'plugin = define_plugin(jobs={"1bad": {"handler": print}})')
    code, out, _ = local.call("install", str(folder), "--timezone", "UTC")
    wanted, expected, _ = fixture_runs.call(["build", str(folder)])
    assert (code, wanted) == (1, 1)
    assert out == expected
    assert "plugin.py:" in out


def test_upgrade_prints_what_it_means_breaking_changes_first(local: Site) -> None:
    local.install(PLAIN)
    folder = write_plugin(
        local.folder / "shop",
        """
        def work(payload, attempt, ctx):
            note(attempt)
        plugin = define_plugin(
            jobs={"work": {"handler": work, "maxAttempts": 2}, "more": {"handler": work}},
            cron=[Cron("0 4 * * *", job="work")],
        )
        """,
        version="2.0.0",
    )
    local.enqueue("work", None, "--delay-sec", "60")
    out = local.run("upgrade", str(folder))
    told = out[out.index("Upgraded") :].splitlines()
    assert told[0] == "Upgraded shop 2.0.0 (NextSkin): 2 jobs, 1 schedule, UTC."
    assert told[2].startswith("  breaking attempts-lowered /jobs/work")
    assert told[-1] == "  1 unfinished task kept."
    assert any(line.startswith("  harmless job-added /jobs/more: ") for line in told)


def test_upgrade_wants_an_installed_plugin(local: Site) -> None:
    folder = write_plugin(local.folder / "shop", PLAIN)
    local.install(PLAIN, plugin="other")
    code, out, err = local.call("upgrade", str(folder))
    assert (code, out) == (2, "")
    assert err == "Error: plugin 'shop' is not installed here: `nsplugin install` installs it\n"


def test_a_changed_site_zone_moves_the_schedules(local: Site) -> None:
    """spec/nextskin.md C4"""
    folder = local.install(PLAIN)
    local.run("install", str(folder), "--timezone", "Asia/Tokyo")
    (row,) = local.json("jobs", "schedules", "--count", "1")["schedules"]
    assert row["timezone"] == "Asia/Tokyo"
    assert row["nextFires"][0]["local"].endswith("03:00 JST")


def test_enable_disable_and_uninstall_say_what_they_did(local: Site) -> None:
    local.install(PLAIN)
    assert local.run("disable", "shop") == "shop is disabled.\n"
    assert local.run("disable", "shop") == "shop is disabled already.\n"
    assert "its plugin is disabled" in local.run("jobs", "schedules")
    assert local.run("enable", "shop") == "shop is enabled.\n"
    local.enqueue("work", None, "--delay-sec", "60")
    code, _, err = local.call("uninstall", "shop")
    assert (code, err) == (
        2,
        "Error: this removes shop with 1 unfinished task and 0 dead letters, and all data it stored: add --yes\n",
    )
    assert local.run("uninstall", "shop", "--yes") == "shop is uninstalled; 1 unfinished task and 0 dead letters are gone.\n"


def test_jobs_list_pages_and_filters(local: Site) -> None:
    local.install(PLAIN)
    ids = [local.enqueue("work", {"n": n}, "--delay-sec", str(60 + n)) for n in range(5)]
    first = local.json("jobs", "list", "--limit", "2")
    second = local.json("jobs", "list", "--limit", "2", "--after", first["next"])
    third = local.json("jobs", "list", "--limit", "2", "--after", second["next"])
    assert [task["id"] for page in (first, second, third) for task in page["tasks"]] == ids
    assert third["next"] is None
    assert sorted(first["tasks"][0]) == [
        "attempt", "claimedAt", "createdAt", "dueAt", "enqueuedBy", "finishedAt", "id", "job", "keepUntil", "key", "lastError",
        "lastErrorCode", "maxAttempts", "payloadBytes", "plugin", "runAt", "source", "state", "status",
    ]  # fmt: skip
    assert local.json("jobs", "list", "--state", "dead")["tasks"] == []
    assert len(local.json("jobs", "list", "--state", "PENDING", "--plugin", "shop", "--job", "work")["tasks"]) == 5
    code, out, err = local.call("jobs", "list", "--limit", "2")
    assert (code, len(out.splitlines()), err) == (0, 3, f"There are more: add --after {first['next']}\n")
    assert local.run("dead", "list") == "There are none.\n"


def test_a_payload_is_shown_only_when_asked_for(local: Site) -> None:
    """spec/cogover.md X7"""
    local.install(PLAIN)
    task_id = local.enqueue("work", {"word": "hidden"}, "--delay-sec", "60")
    for command in (["jobs", "list"], ["jobs", "show", task_id], ["jobs", "show", task_id, "--format", "json"]):
        assert "hidden" not in local.run(*command)
    assert "17 bytes; --payload shows it" in local.run("jobs", "show", task_id)
    assert 'payload      {"word":"hidden"}\n' in local.run("jobs", "show", task_id, "--payload")
    assert local.json("jobs", "show", task_id, "--payload")["payload"] == '{"word":"hidden"}'


def test_cogover_s_own_words_and_options(local: Site) -> None:
    """spec/cogover.md E4, E5, X1, X7"""
    cogover(local)
    (row,) = local.json("jobs", "schedules")["schedules"]
    assert (row["timezone"], row["job"]) == ("UTC+07:00", "sync")
    made = local.json("jobs", "enqueue", "orders", "sync", "--delay-ms", "60000", "--idempotency-key", "k", "--as", "ada")
    again = local.json("jobs", "enqueue", "orders", "sync", "--idempotency-key", "k")
    assert (made["duplicate"], again) == (False, {**made, "duplicate": True})
    shown = local.json("jobs", "show", made["id"])
    assert (shown["task"]["status"], shown["task"]["enqueuedBy"], shown["identity"]) == ("PENDING", "management", "ada")
    assert shown["task"]["payloadBytes"] == 0
    later = local.json("jobs", "enqueue", "orders", "sync", "--run-at", "2020-01-01T00:00Z")["id"]
    assert local.json("jobs", "show", later)["task"]["dueAt"] == "2020-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["jobs", "lst"], "jobs has no command 'lst'; did you mean 'list'?"),
        (["dead", "x"], "dead has no command 'x'; there are list, show, retry, delete"),
        (["jobs", "list", "--state", "queud"], "there is no state 'queud'; did you mean 'queued'?"),
        (["jobs", "list", "--plugin", "shpo"], "no plugin 'shpo' is installed here; did you mean 'shop'?"),
        (["jobs", "list", "--plugin", "shop", "--job", "wrok"], "plugin 'shop' declares no job 'wrok'; did you mean 'work'?"),
        (["jobs", "list", "--after", "x"], "'x' is no place in this list: give what `next` says of the page before"),
        (["jobs", "list", "--limit", "0"], "0 is not in the range 1<=x<=1000"),
        (["jobs", "show", "TSKNONE"], "there is no task 'TSKNONE' (any more)"),
        (["enable", "shpo"], "no plugin 'shpo' is installed here; did you mean 'shop'?"),
        (["uninstall", "shpo", "--yes"], "no plugin 'shpo' is installed here; did you mean 'shop'?"),
        (["jobs", "enqueue", "shop", "wrok"], "plugin 'shop' declares no job 'wrok'; did you mean 'work'?"),
        (["jobs", "enqueue", "shop", "work", "--delay-ms", "5"], "--delay-ms is not for NextSkin: it has --delay-sec"),
        (["jobs", "enqueue", "shop", "work", "--delay-sec", "-1"], "delaySec is -1; it must be a whole number of seconds"),
        (["jobs", "enqueue", "shop", "work", "--dedupe-key", " k"], "begins or ends with white space"),
        (["jobs", "enqueue", "shop", "work", "--payload", '{"a": 1,}'], "--payload line 1, column 8: "),
        (["jobs", "enqueue", "shop", "work", "--payload", '{"a": NaN}'], "--payload line 1, column 7: "),
        (["jobs", "enqueue", "shop", "work", "--payload", "@none.json"], "cannot read none.json: No such file"),
        (["jobs", "enqueue", "shop", "work", "--payload", "@."], "--payload: . is a folder, and a payload is a file"),
        (["jobs", "enqueue", "shop", "work", "--payload", "@"], "--payload: @ names no file: write @FILE, or - for"),
        (["jobs", "enqueue", "orders", "sync", "--delay-ms", "1", "--run-at", "1"], "--delay-ms and --run-at exclude each"),
        (["jobs", "enqueue", "orders", "sync", "--run-at", "noon"], "--run-at: 'noon' is not a time in ISO 8601"),
        (["jobs", "enqueue", "orders", "sync", "--run-at", "9" * 15], "at most 30 days from now"),
        (["jobs", "enqueue", "orders", "sync", "--payload", json.dumps("x" * 65535)], "65,537 bytes as JSON, 65,536 are"),
        (["jobs", "enqueue", "shop", "work", "--payload", "NaN"], 'begins with "NaN" (a payload is JSON: an object, a list,'),
        (["jobs", "enqueue", "shop", "work", "--payload", ""], "the text is empty (a payload is JSON: an object, a list,"),
        (["dead", "retry"], "name dead letters by their ids"),
        (["dead", "delete", "--all"], "--all needs --plugin ID"),
        (["dead", "delete", "--all", "--plugin", "shop"], "this deletes all dead letters of shop for good: add --yes"),
        (["dead", "delete", "--all", "--plugin", "shop", "--job", "work"], "of shop, job work, for good: add --yes"),
        (["uninstall", "shop"], "this removes shop with "),
        (["dead", "delete", "X", "--job", "work"], "--job goes with --all"),
        (["dead", "retry", "X", "--all", "--plugin", "shop"], "name dead letters by their ids"),
        (["dead", "retry", "TSKNONE"], "there is no task 'TSKNONE' (any more)"),
        (["install", "nowhere", "--timezone", "UTC"], "nowhere does not exist: name a plugin's folder or a manifest"),
        (["install", "shop", "--timezone", "Mars/Base"], "--timezone: "),
        (["install", "shop", "--code", "nowhere"], "--code: nowhere is no folder"),
        (["serve", "--metrics", "9464"], "'9464' is no address: write HOST:PORT, such as 127.0.0.1:9464"),
        (["serve", "--metrics", "ü.localhost:80"], "'ü.localhost:80' is no address: write HOST:PORT, such as 127.0.0.1:9464"),
        (["serve", "--workers", "0"], "0 is not in the range 1<=x<=1000"),
        (["serve", "--providers", "nothing_there:x"], "--providers: nothing_there:x: No module named 'nothing_there'"),
        (["serve", "--providers", "json:loads"], "--providers: json:loads is function, where"),
    ],
)  # fmt: skip
def test_a_wrong_call_says_what_to_write_and_exits_with_2(
    arguments: list[str], error: str, furnished: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(furnished.folder)
    monkeypatch.setenv("NSPLUGIN_DATABASE", furnished.url)
    code, _, err = fixture_runs.call(arguments)
    assert (code, "Traceback" in err) == (2, False)
    assert error in err


def test_a_task_is_on_nobody_s_behalf_without_a_name(local: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container runs under a number that no account has."""

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    local.install(PLAIN)
    monkeypatch.setattr("getpass.getuser", nobody)
    assert local.call("jobs", "enqueue", "shop", "work") == (
        2,
        "",
        "Error: nobody is logged in by a name: name the administrator with --as USER\n",
    )
    assert local.run("jobs", "enqueue", "shop", "work", "--as", "ada")


def test_what_is_no_dead_letter_is_told_and_the_others_are_done(local: Site) -> None:
    local.install(PLAIN)
    task_id = local.enqueue("work", None, "--delay-sec", "60")
    code, out, err = local.call("dead", "delete", task_id)
    assert (code, out) == (2, "0 deleted.\n")
    assert err == f"Error: {task_id} of shop is no dead letter here: it is queued\n"


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("sqlite:///none.db", "there is no database none.db: `nsplugin install` makes it, or name another one with --database"),
        ("mysql://root@localhost/x", "'mysql://root@localhost/x' is no database: use sqlite:///path/core.db or postgresql://"),
        ("postgresql://ada:geheim@127.0.0.1:1/x", "can't open PostgreSQL: connection failed: "),
        ("mysql://root:geheim@localhost/x", "'mysql://root:•••@localhost/x' is no database"),
        ("sqlite:///text.db", "text.db is not a usable SQLite database: file is not a database"),
        ("sqlite:///.", ". is a folder: name a file in it, such as core.db"),
    ],
)
def test_a_database_that_is_none_is_told_without_its_password(
    url: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("no database at all, but a text long enough to have a header\n" * 4, encoding="utf-8")
    monkeypatch.setenv("NSPLUGIN_DATABASE", url)
    code, out, err = fixture_runs.call(["jobs", "list"])
    assert (code, out) == (2, "")
    assert error in err
    assert "geheim" not in err


def test_a_newer_database_is_refused(local: Site) -> None:
    local.install(PLAIN)
    with sqlite3.connect(local.folder / "core.db") as connection:
        connection.execute("INSERT INTO schema_version VALUES (99)")
    connection.close()
    code, _, err = local.call("jobs", "list")
    assert code == 2
    assert "the database has schema version 99, this nsplugin knows versions up to" in err


def test_the_default_database_lies_in_a_folder_that_git_ignores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_plugin(tmp_path, PLAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NSPLUGIN_DATABASE", raising=False)
    assert fixture_runs.call(["jobs", "list"])[0] == 2
    assert fixture_runs.call(["install", ".", "--timezone", "UTC"])[0] == 0
    assert fixture_runs.call(["jobs", "list"])[:2] == (0, "There are none.\n")
    assert (tmp_path / ".nsplugin" / ".gitignore").read_text(encoding="utf-8").endswith("*\n")


@pytest.mark.parametrize(("package", "arguments"), [("structlog", ["serve"]), ("prometheus_client", ["serve"])])
def test_a_missing_extra_is_named_with_its_command(package: str, arguments: list[str], tmp_path: Path) -> None:
    run = f"import sys; sys.modules[{package!r}] = None; from nsplugin_cli.app import run; sys.exit(run({arguments!r}))"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: this command needs more packages: pip install 'nsplugin[core]'\n"


def test_help_lists_the_commands_without_the_core() -> None:
    run = (
        "import sys; from nsplugin_cli.app import run; run(['--help']); print([m for m in sys.modules if 'nsplugin_core' in m])"
    )
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True)
    assert done.stdout.endswith("[]\n")
    for name in ("serve", "install", "upgrade", "enable", "disable", "uninstall", "jobs", "dead"):
        assert f"  {name} " in done.stdout


@pytest.mark.parametrize("name", [["serve"], ["install"], ["upgrade"], ["jobs", "enqueue"], ["dead", "retry"]])
def test_each_command_has_a_help_of_its_own(name: list[str]) -> None:
    code, out, err = fixture_runs.call([*name, "--help"])
    assert (code, err) == (0, "")
    assert "--database URL" in out
    assert name[0] in group.COMMANDS


def test_a_command_runs_as_a_process_of_its_own(local: Site) -> None:
    local.install(PLAIN)
    done = subprocess.run(
        [*NSPLUGIN, "jobs", "enqueue", "shop", "work", "--payload", "-", "--database", local.url],
        input='{"n": 1}', capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    task = local.task(done.stdout.strip())
    assert task is not None and task.payload == '{"n":1}'


def test_tables_line_up_and_never_steer_the_terminal() -> None:
    letter = {
        "id": "TSKA", "plugin": "商店", "job": "sync", "attempt": 5, "finishedAt": "2026-06-01T12:00:00Z",
        "keepUntil": "2026-07-01T12:00:00Z", "lastError": "no\x1b[2J way\nout",
    }  # fmt: skip
    other = {**letter, "id": "TSKBCD", "plugin": "a", "lastError": None}
    assert records.dead([letter, other]) == (
        "ID      PLUGIN  JOB   ATTEMPTS  ENDED                 KEPT UNTIL            ERROR\n"
        "TSKA    商店    sync  5         2026-06-01T12:00:00Z  2026-07-01T12:00:00Z  no\\x1b[2J way\\x0aout\n"
        "TSKBCD  a       sync  5         2026-06-01T12:00:00Z  2026-07-01T12:00:00Z  -\n"
    )
