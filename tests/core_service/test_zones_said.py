"""What is said of time zones: the site's where a platform has one, else those of the schedules (spec/cogover.md D6)."""

from __future__ import annotations

import pytest

from service_world import Site

JOBS = """\
from nsplugin.cogover import define_job


async def work() -> None: ...


jobs = [
"""


@pytest.mark.parametrize(
    ("zones", "said"),
    [
        ([], "1 job, 0 schedules."),
        ([None], "1 job, 1 schedule, UTC."),
        (["Asia/Ho_Chi_Minh"], "1 job, 1 schedule, Asia/Ho_Chi_Minh."),
        (["Asia/Tokyo", "America/Lima", "Asia/Tokyo"], "3 jobs, 3 schedules, America/Lima, Asia/Tokyo."),
    ],
)
def test_a_cogover_project_keeps_the_time_of_its_schedules(local: Site, zones: list[str | None], said: str) -> None:
    folder = local.folder / "orders"
    folder.mkdir()
    (folder / "nsplugin.toml").write_text('platform = "cogover"\nid = "orders"\ntimezone = "Europe/Berlin"\n', encoding="utf-8")
    jobs = [{"key": "plain"}] if not zones else []
    for number, zone in enumerate(zones):
        named = {} if zone is None else {"timezone": zone}
        jobs.append({"key": f"job_{number}", "schedule": {"cron": "0 2 * * *", **named}})
    lines = "".join(f"    define_job({job!r}, work),\n" for job in jobs)
    (folder / "main.py").write_text(f"{JOBS}{lines}]\n", encoding="utf-8")
    code, out, err = local.call("install", str(folder))
    assert (code, err) == (0, "")
    assert f"Installed orders (Cogover): {said}\n" in out
