"""``nsplugin serve`` as a process: what it runs, how it stops, what a crash costs."""

from __future__ import annotations

import signal
import urllib.error
import urllib.request

import pytest

from nsplugin_core.service import Service
from service_world import ShiftedClock, Site
from waiting import PATIENCE, descendants, ended, until

NOTE = """
    def work(payload, attempt, ctx):
        note(f"{payload.get('n', '')} {attempt}")
    plugin = define_plugin(jobs={"work": {"handler": work}})
"""
SLOW = """
    def work(payload, attempt, ctx):
        note("begun")
        end = time.monotonic() + payload["seconds"]
        while time.monotonic() < end:
            time.sleep(0.02)
            (HERE / "pulse").touch()
        note("done")
    plugin = define_plugin(jobs={"work": {"handler": work, "maxAttempts": 1}})
"""


def test_what_another_process_enqueues_runs_once(site: Site) -> None:
    """spec/nextskin.md X2: success ends a task."""
    site.install(NOTE)
    served = site.serve()
    for number in range(5):
        site.enqueue("work", {"n": number})
    until(lambda: len(site.diary()) == 5, "five tasks")
    until(lambda: site.count("queued") + site.count("running") == 0, "an empty queue")
    assert served.stop() == 0
    assert sorted(site.diary()) == [f"{number} 1" for number in range(5)]


def test_several_cores_share_a_database(site: Site) -> None:
    """spec/core.md B1, B2: no task is run by two of them."""
    site.install(NOTE)
    first, second = site.serve("--workers", "2"), site.serve("--workers", "2")
    with site.store() as store:
        from nsplugin_core.clock import SystemClock
        from nsplugin_core.operations import Operations

        operations = Operations.on(store, SystemClock())
        for number in range(200):
            operations.enqueue("shop", "work", {"n": number})
    until(lambda: len(site.diary()) >= 200, "two hundred tasks")
    until(lambda: site.count("queued") + site.count("running") == 0, "an empty queue")
    assert (first.stop(), second.stop()) == (0, 0)
    assert sorted(site.diary()) == sorted(f"{number} 1" for number in range(200))


def test_a_stop_lets_running_attempts_finish_and_claims_nothing_more(site: Site) -> None:
    site.install(SLOW)
    served = site.serve("--workers", "1")
    running = site.enqueue("work", {"seconds": 1})
    until(lambda: site.diary(), "the attempt")
    waiting = site.enqueue("work", {"seconds": 0})
    assert served.stop() == 0
    assert site.diary() == ["begun", "done"]
    assert site.task(running) is None
    task = site.task(waiting)
    assert task is not None and (task.state, task.attempt) == ("queued", 0)


def test_what_outlasts_the_grace_is_given_back(site: Site) -> None:
    """spec/core.md Q3: neither counted nor an error."""
    site.install(SLOW)
    served = site.serve("--grace", "0.3")
    task_id = site.enqueue("work", {"seconds": 60})
    until((site.folder / "shop" / "pulse").exists, "the attempt")
    hosts = descendants(served.process.pid)
    assert hosts and served.stop() == 0
    task = site.task(task_id)
    assert task is not None and (task.state, task.attempt, task.last_error) == ("queued", 0, None)
    assert "1 attempts were given back" in served.lines()[-1]["event"]
    until(lambda: ended(*hosts), "the end of its host")


def test_a_second_signal_stops_at_once(local: Site) -> None:
    local.install(SLOW)
    served = local.serve("--grace", "600")
    task_id = local.enqueue("work", {"seconds": 60})
    until(lambda: local.diary(), "the attempt")
    served.process.send_signal(signal.SIGINT)
    until(lambda: "stopping" in served.log.read_text(encoding="utf-8"), "a core that stops")
    until(lambda: _page(served.monitor, "/ready") == (503, "the core is stopping\n"), "a core that is not ready")
    assert _page(served.monitor, "/live") == (200, "ok\n")
    assert served.process.poll() is None
    assert served.stop(signal.SIGTERM) == 0
    task = local.task(task_id)
    assert task is not None and (task.state, task.attempt) == ("queued", 0)


def test_a_core_that_is_killed_has_spent_the_attempt(site: Site) -> None:
    """spec/nextskin.md X5, spec/core.md Q2: it is lost when its lease runs out; its host does not outlive the core."""
    site.install(SLOW)
    served = site.serve()
    task_id = site.enqueue("work", {"seconds": 60})
    until((site.folder / "shop" / "pulse").exists, "the attempt")
    hosts = descendants(served.process.pid)
    assert hosts
    served.stop(signal.SIGKILL)
    until(lambda: ended(*hosts), "the end of its host")
    task = site.task(task_id)
    assert task is not None and (task.state, task.attempt) == ("running", 1)
    after = Service(site.url, clock=ShiftedClock(task.timeout_ms + 20_000))
    after.start()
    until(lambda: site.count("dead") == 1, "the dead letter")
    after.stop()
    task = site.task(task_id)
    assert task is not None
    assert task.last_error == "attempt 1 of 1 was cut short: the core that ran it stopped"


def test_a_host_that_exits_gives_the_attempt_back(site: Site) -> None:
    """spec/nextskin.md X6"""
    site.install(
        """
        def work(payload, attempt, ctx):
            note(attempt)
            if not (HERE / "once").exists():
                (HERE / "once").touch()
                os._exit(3)
        plugin = define_plugin(jobs={"work": {"handler": work, "maxAttempts": 1}})
        """
    )
    served = site.serve()
    site.enqueue("work")
    until(lambda: len(site.diary()) == 2, "a second start")
    until(lambda: site.count("queued") + site.count("running") == 0, "an empty queue")
    assert site.diary() == ["1", "1"]
    assert site.count("dead") == 0
    assert 'nsplugin_host_exits_total{plugin="shop"} 1.0' in _page(served.monitor, "/metrics")[1]
    with site.store() as store:
        assert [each.outcome for each in store.tasks.recent("shop", 10)] == ["success", "deferred"]


def test_a_plugin_that_misbehaves_harms_only_its_own_tasks(site: Site) -> None:
    """One blocks every worker for ever, one cannot even be loaded; a third is as quick as ever."""
    site.install(
        """
        def work(payload, attempt, ctx):
            while True:
                pass
        plugin = define_plugin(jobs={"work": {"handler": work, "timeoutMs": 600000}})
        """,
        plugin="greedy",
    )
    broken = site.install(NOTE, plugin="broken")
    (broken / "plugin.py").write_text("raise SystemExit(1)", encoding="utf-8")
    site.install(NOTE)
    served = site.serve("--workers", "2")
    stuck = [site.enqueue("work", plugin="greedy") for _ in range(4)]
    unfit = site.enqueue("work", plugin="broken")
    for number in range(20):
        site.enqueue("work", {"n": number})
    until(lambda: len(site.diary()) == 20, "the tasks of the good one")
    assert served.stop(signal.SIGKILL) == -signal.SIGKILL
    assert site.count("dead", "greedy") + site.count("dead", "broken") == 0
    states = [task.state for task in map(site.task, stuck) if task is not None]
    assert sorted(states) == ["queued", "queued", "running", "running"]
    task = site.task(unfit)
    assert task is not None and task.last_error is None


def test_disabling_and_enabling_reach_a_running_core(site: Site) -> None:
    """spec/nextskin.md A4"""
    site.install(NOTE)
    site.serve()
    assert site.json("disable", "shop")["changed"] is True
    task_id = site.enqueue("work", {"n": 1})
    site.install(NOTE, plugin="other")
    site.enqueue("work", plugin="other")
    until(lambda: site.diary("other"), "the other plugin")
    task = site.task(task_id)
    assert task is not None and (task.state, task.attempt) == ("queued", 0)
    assert site.json("enable", "shop")["changed"] is True
    until(lambda: site.diary() == ["1 1"], "the task")


def test_an_upgrade_reaches_a_running_core_and_keeps_what_waits(site: Site) -> None:
    """spec/core.md K3, spec/cogover.md D9: a task executes the version that is active then."""
    body = """
        def work(payload, attempt, ctx):
            note("{0}")
        plugin = define_plugin(
            jobs={{"work": {{"handler": work, "maxAttempts": {1}}}}}, cron=[Cron("0 3 * * *", job="work")]
        )
    """
    folder = site.install(body.format("old", 5))
    site.serve()
    waiting = site.enqueue("work", None, "--delay-sec", "3600")
    before = site.json("jobs", "schedules")["schedules"]
    site.enqueue("work")
    until(lambda: site.diary() == ["old"], "the old version")
    (folder / "plugin.py").write_text(
        (folder / "plugin.py")
        .read_text(encoding="utf-8")
        .replace('"old"', '"new"')
        .replace('maxAttempts": 5', 'maxAttempts": 2'),
        encoding="utf-8",
    )
    told = site.json("upgrade", str(folder))
    assert (told["created"], told["kept"]) == (False, 1)
    assert [(change["kind"], change["level"]) for change in told["changes"]] == [("attempts-lowered", "breaking")]
    assert site.json("jobs", "schedules")["schedules"] == before
    task = site.task(waiting)
    assert task is not None and task.max_attempts == 2
    site.enqueue("work")
    until(lambda: site.diary()[-1] == "new", "the new version")


def test_metrics_and_health(local: Site) -> None:
    local.install(NOTE)
    served = local.serve()
    local.enqueue("work")
    local.enqueue("work", None, "--delay-sec", "60")
    until(lambda: local.diary(), "the task")
    assert _page(served.monitor, "/live") == (200, "ok\n")
    assert _page(served.monitor, "/ready") == (200, "ok\n")
    assert _page(served.monitor, "/admin") == (404, "there is nothing here; there are /metrics, /live, /ready\n")
    text = until(lambda: (page := _page(served.monitor, "/metrics")[1]) * ("attempts_total{" in page), "a counted attempt")
    assert 'nsplugin_attempts_total{job="work",outcome="success",plugin="shop"} 1.0' in text
    assert 'nsplugin_start_latency_seconds_count{job="work",plugin="shop"} 1.0' in text
    assert 'nsplugin_tasks{job="work",plugin="shop",state="queued"} 1.0' in text
    assert 'nsplugin_host_up{plugin="shop"} 1.0' in text


def test_an_idle_core_is_small(local: Site) -> None:
    """A core that waits takes less than 80 MB."""
    local.install(NOTE)
    served = local.serve()
    local.enqueue("work")
    until(lambda: local.diary(), "the task")
    _page(served.monitor, "/metrics")
    assert served.memory_kib() < 80 * 1024


def test_the_log_is_one_json_object_a_line_with_the_plugin_s_own_words(local: Site) -> None:
    local.install(
        """
        def work(payload, attempt, ctx):
            ctx.log.warning("mind\\nthe gap", place="platform 3")
            print("printed")
        plugin = define_plugin(jobs={"work": {"handler": work}})
        """
    )
    served = local.serve("--log-level", "debug")
    task_id = local.enqueue("work", {"secret": "payloads stay out of logs"})
    until(lambda: "success" in served.log.read_text(encoding="utf-8"), "a logged success")
    served.stop()
    lines = served.lines()
    (warning,) = [line for line in lines if line["level"] == "warning"]
    assert warning | {"timestamp": ""} == {
        "event": "mind\nthe gap",
        "level": "warning",
        "logger": "nsplugin.plugins",
        "plugin": "shop",
        "stream": "log",
        "job": "work",
        "task": task_id,
        "attempt": 1,
        "fields": {"place": "platform 3"},
        "timestamp": "",
    }
    assert [line["stream"] for line in lines if line["event"] == "printed"] == ["stdout"]
    assert "payloads stay out" not in served.log.read_text(encoding="utf-8")


def test_an_address_that_is_taken_is_named(local: Site) -> None:
    address = local.serve().monitor.removeprefix("http://")
    code, _, err = local.call("serve", "--metrics", address)
    assert (code, err.splitlines()[-1]) == (2, f"Error: --metrics: {address} can't be had: Address already in use")


def _page(monitor: str, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(monitor + path, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
