"""A Cogover project in a served core: its context, its errors, its words."""

from __future__ import annotations

import json
import textwrap

import pytest

from service_world import Site
from waiting import until

PROJECT = """
from pathlib import Path
from nsplugin.cogover import RetryableError, define_job

HERE = Path(__file__).parent


def note(text):
    with open(HERE / "diary.txt", "a") as diary:
        diary.write(f"{text}\\n")


async def mail(job, payload, invocation, secrets, email, jobs):
    key = await secrets.get("KEY")
    note(f"{invocation.identity} {invocation.user} {job.source} {len(key)} {payload['to']}")
    await email.send(to=[payload["to"]], subject="hello", text=key)
    made = await jobs.enqueue("fail", None, idempotency_key="once")
    note(f"{made.duplicate} {(await jobs.enqueue('fail', None, idempotency_key='once')).duplicate}")


def fail(job):
    note(f"fail {job.attempt}")
    raise ValueError("broken for good")


jobs = [define_job({"key": "mail"}, mail), define_job({"key": "fail"}, fail)]
"""
MAILS = """
from pathlib import Path
from nsplugin.runtime.providers import Providers


class Mail:
    def send(self, access, *, to, subject, text, html):
        Path(__file__).with_name("mails.txt").write_text(f"{access.plugin} {access.user} {to} {subject} {text}")


providers = Providers(email=Mail())
"""


def test_a_project_uses_secrets_and_providers_and_its_runs_end_in_its_own_words(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """spec/cogover.md X1, X4, X7, E5; spec/core.md H3"""
    folder = site.folder / "orders"
    folder.mkdir()
    (folder / "main.py").write_text(textwrap.dedent(PROJECT), encoding="utf-8")
    (folder / "nsplugin.toml").write_text('platform = "cogover"\nid = "orders"\n', encoding="utf-8")
    (site.folder / "mails.py").write_text(MAILS, encoding="utf-8")
    monkeypatch.setenv("NSPLUGIN_SECRET_ORDERS__KEY", "correct horse")
    site.run("install", str(folder), "--timezone", "UTC")
    served = site.serve("--providers", "mails:providers")
    run = site.enqueue("mail", {"to": "ada"}, "--as", "bob", "--idempotency-key", "m1", plugin="orders")
    until(lambda: site.count("succeeded", "orders") == 1 and site.count("dead", "orders") == 1, "both runs")
    assert sorted(site.diary("orders")) == ["False True", "fail 1", "user bob enqueue 13 ada"]
    assert (site.folder / "mails.txt").read_text(encoding="utf-8") == "orders bob ['ada'] hello correct horse"
    tasks = {task["job"]: task for task in site.json("jobs", "list", "--plugin", "orders")["tasks"]}
    assert {job: task["status"] for job, task in tasks.items()} == {"mail": "SUCCEEDED", "fail": "FAILED"}
    assert (tasks["fail"]["lastError"], tasks["fail"]["lastErrorCode"]) == ("broken for good", "ValueError")
    assert run.startswith("TSJ") and len(run) == 15
    again = site.json("jobs", "enqueue", "orders", "mail", "--payload", '{"to": "eve"}', "--idempotency-key", "m1")
    assert (again["id"], again["duplicate"]) == (run, True)
    assert "correct horse" not in served.log.read_text(encoding="utf-8")
    assert "correct horse" not in json.dumps(tasks)
