"""From the options of ``simulate`` to a simulation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsplugin_cli import terminal
from nsplugin_cli.commands.developing import standins
from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin_core.host.logs import LogRecord
    from nsplugin_core.simulation import Scenario, Simulation

DAY_MS = 86_400_000
MINUTE_MS = 60_000
MOST_DAYS = 3_660


def simulated(paths: Sequence[Path], color: terminal.Color, **orders: Any) -> tuple[Simulation | None, int]:
    """The simulation that the options describe, or the exit code that a faulty plugin has. Raises ``WrongCall``."""
    from nsplugin_cli.commands import building
    from nsplugin_cli.showing import show

    try:
        plugins = building.built(paths)
    except building.Unfit as unfit:
        show(unfit.report, "text", color, to_stderr=True)
        return None, unfit.report.exit_code()
    from nsplugin_core.simulation import OrderError, SimulationFailed, assertions, simulate

    try:
        assertions.read(orders["assertions"])
        sink = _say_record if orders["logs"] else None
        simulation = simulate(scenario(plugins, **orders), providers=standins(orders["providers"]), sink=sink)
    except OrderError as error:
        raise WrongCall(str(error)) from error
    except SimulationFailed as error:
        terminal.say(f"Error: {error}")
        return None, 1
    for note in simulation.notes:
        terminal.say(f"note: {note}")
    return simulation, 0


def scenario(plugins: Sequence[Any], **orders: Any) -> Scenario:
    """The scenario of the options. Raises ``WrongCall`` and ``OrderError``."""
    from nsplugin.cron import zone
    from nsplugin_cli.commands.building import site_zone
    from nsplugin_core.simulation import Scenario, SimulatedPlugin
    from nsplugin_core.simulation.orders import Reader

    site = zone(site_zone(plugins, orders["timezone"]))
    start, end = _window(orders["start"], orders["end"], site)
    simulated = tuple(SimulatedPlugin(manifest=each.manifest, folder=each.folder) for each in plugins)
    reader = Reader(plugins=simulated, zone=site, start=start, end=end)
    exits, exits_at = reader.exits("--host-exit", orders["host_exit"])
    fail, timeout = reader.hits("--fail", orders["fail"]), reader.hits("--timeout", orders["timeout"])
    reader.one_first(fail, timeout)
    return Scenario(
        plugins=simulated,
        start=start,
        end=end,
        timezone=site.name,
        seed=orders["seed"],
        handlers=orders["handlers"],
        fail=fail,
        timeout=timeout,
        takes=reader.takes("--takes", orders["takes"]),
        exits=exits,
        exits_at=exits_at,
        outages=reader.outages("--down", orders["down"]),
        zone_changes=reader.zone_changes("--zone-change", orders["zone_change"]),
        enqueues=reader.enqueues("--enqueue", orders["enqueue"]),
        internal_system=orders["internal_system"],
    )


def _say_record(record: LogRecord) -> None:
    """A line of the plugin's, for the person who simulates; what would steer a terminal stands as its escape."""
    from nsplugin_cli.report.frame import visible

    job = record.job or record.plugin
    for line in record.message.splitlines():
        fields = f" {dict(record.fields)}" if record.fields and record.stream == "log" else ""
        terminal.say(visible(f"{job} {record.stream}: {line}{fields}"))


def _window(first: str | None, last: str | None, site: Any) -> tuple[int, int]:
    from nsplugin.durations import parsed
    from nsplugin_core.simulation.moments import moment

    try:
        start = int(time.time()) * 1000 // MINUTE_MS * MINUTE_MS if first is None else moment(first, site)
    except ValueError as error:
        raise WrongCall(f"--from: {error}") from error
    try:
        end = start + DAY_MS if last is None else start + parsed(last[1:]) if last.startswith("+") else moment(last, site)
    except ValueError as error:
        raise WrongCall(f"--to: {error}") from error
    if not start < end <= start + MOST_DAYS * DAY_MS:
        raise WrongCall(f"--to must come after --from, at most {MOST_DAYS:,} days later")
    return start, end


def write(path: Path, text: str) -> None:
    """Write a page. Raises ``WrongCall`` when it can't be written."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise WrongCall(f"--html: cannot write {path}: {error.strerror}") from error


def judged(simulation: Simulation, texts: Sequence[str]) -> int:
    """Say which assertions do not hold; the exit code."""
    from nsplugin_core.simulation import assertions

    failed = list(assertions.failures(assertions.read(texts), simulation.summary))
    for text in failed:
        terminal.say(f"Error: {text}")
    return int(bool(failed))
