"""What a plugin logs and prints becomes records: with its attempt where that is known, bounded in length and rate."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

import host_world
from host_world import World, until
from nsplugin_core.host.capabilities.secrets import Redactor, from_environment
from nsplugin_core.host.logs import Bucket, LogRecord, PluginLog, to_logging
from nsplugin_core.host.protocol import ProtocolError
from nsplugin_core.host.settings import HostSettings

CODE = """
import logging, subprocess, warnings
print("while loading")
def prints(payload):
    print("one"); print("two", end=""); print(" halves\\nthree"); print("no end", end="")
    print("error", file=sys.stderr)
async def mixes(payload):
    for part in range(3):
        print(payload, end="" if part < 2 else "\\n")
        await asyncio.sleep(0.01)
def raw():
    os.write(1, b"raw \\xff\\n"); os.write(2, b"unfinished")
    subprocess.run(["echo", "from a subprocess"])
    sys.stdout.buffer.write(b"by buffer\\n"); sys.__stdout__.write("past the capture\\n"); sys.__stdout__.flush()
def long(): print("x" * 20_000); os.write(1, b"y" * 20_000 + b"\\n")
def levels(ctx):
    class Odd:
        def __str__(self): raise RuntimeError
    ctx.log.debug("d"); ctx.log.info("i", {"a": 1}, b=2); ctx.log.warning("w"); ctx.log.warn("w2"); ctx.log.error("e")
    ctx.log.info("strange", set={1}, nan=float("nan"), big=2**70, odd=Odd(), nested={"a": {"b": {"c": {"d": 1}}}}, none=None)
    ctx.log.info(ValueError("an error"))
def uses_logging():
    logging.getLogger("mine").warning("by logging"); warnings.warn("by warnings")
def in_a_thread():
    thread = threading.Thread(target=print, args=("from a thread",)); thread.start(); thread.join()
def reads_input(): print(repr(sys.stdin.read()), os.read(0, 10))
"""
JOBS = ", ".join(
    f'"{name.replace("_", "-")}": Job({name})'
    for name in ("prints", "mixes", "raw", "long", "levels", "uses_logging", "in_a_thread", "reads_input")
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A plugin that says much."""
    with host_world.world(tmp_path_factory.mktemp("logs")) as world:
        world.put(CODE + host_world.plugin(JOBS))
        world.ready()
        assert "while loading" in world.lines("stdout")
        yield world


def records(world: World, job: str, payload: Any = None) -> list[LogRecord]:
    """What one attempt left in the log."""
    del world.logs[:]
    assert world.run(job, payload).kind == "success"
    return list(world.logs)


def test_prints_are_lines_of_their_attempt(logs: World) -> None:
    found = records(logs, "prints")
    assert {(record.stream, record.level, record.message) for record in found} == {
        ("stdout", "info", "one"),
        ("stdout", "info", "two halves"),
        ("stdout", "info", "three"),
        ("stdout", "info", "no end"),
        ("stderr", "warning", "error"),
    }
    assert {(record.plugin, record.job, record.attempt, record.task_id is None) for record in found} == {
        ("p", "prints", 1, False)
    }


def test_lines_of_attempts_side_by_side_do_not_mix(logs: World) -> None:
    del logs.logs[:]
    attempts = logs.start(logs.attempt("mixes", "a"), logs.attempt("mixes", "b"))
    for attempt in attempts:
        logs.outcome(attempt)
    assert {(record.message, record.task_id) for record in logs.logs} == {
        ("aaa", attempts[0].task_id),
        ("bbb", attempts[1].task_id),
    }


def test_what_comes_past_python_is_logged_without_its_attempt(logs: World) -> None:
    records(logs, "raw")
    wanted = ["raw \ufffd", "from a subprocess", "by buffer", "past the capture"]
    until(lambda: set(wanted) <= {line.removeprefix("unfinished") for line in logs.lines("output")}, "the output")
    assert {record.job for record in logs.logs if record.stream == "output"} == {None}


def test_long_lines_are_cut_and_say_so(logs: World) -> None:
    records(logs, "long")
    until(lambda: logs.lines("output"), "the output")
    assert logs.lines("stdout") == ["x" * 8_000 + " … (12,000 more characters)"]
    assert logs.lines("output") == ["y" * 8_192 + " … (11,808 more bytes)"]


def test_records_have_levels_and_fields_and_never_fail(logs: World) -> None:
    found = records(logs, "levels")
    assert [(record.level, record.message) for record in found] == [
        ("debug", "d"),
        ("info", "i"),
        ("warning", "w"),
        ("warning", "w2"),
        ("error", "e"),
        ("info", "strange"),
        ("info", "an error"),
    ]
    assert found[1].fields == {"a": 1, "b": 2}
    assert found[5].fields == {
        "set": "{1}",
        "nan": "nan",
        "big": str(2**70),
        "odd": "<Odd that can't be shown>",
        "nested": {"a": {"b": {"c": "{'d': 1}"}}},
        "none": None,
    }


def test_the_standard_library_logs_here_too(logs: World) -> None:
    messages = [record.message for record in records(logs, "uses-logging")]
    assert "by logging" in messages
    assert any("UserWarning: by warnings" in message for message in messages)
    assert [record.message for record in records(logs, "in-a-thread")] == ["from a thread"]


def test_standard_input_is_empty(logs: World) -> None:
    assert [record.message for record in records(logs, "reads-input")] == ["'' b''"]


# The parts, by hand


def test_a_bucket_fills_with_time() -> None:
    bucket = Bucket(10, 5, now=0)
    assert bucket.left(0) == 5
    bucket.take(7)
    assert (bucket.left(0), bucket.left(0.5), bucket.left(100)) == (-2, 3, 5)


def quiet(lines: int) -> tuple[PluginLog, list[LogRecord]]:
    """A log that takes only so many lines."""
    taken: list[LogRecord] = []
    settings = HostSettings(log_lines_per_s=0, log_burst=lines, log_line_bytes=10)
    return PluginLog("p", settings, taken.append, Redactor(["secret-1"])), taken


def test_output_in_pieces_is_put_together_and_the_rest_counted() -> None:
    log, taken = quiet(3)
    for piece in (b"on", b"e\ntw", b"o\n", b"abcdefghijklmn", b"op\n", b"lost\nlost\nunfinished"):
        log.output(piece)
    log.close()
    assert [record.message for record in taken] == [
        "one",
        "two",
        "abcdefghij … (6 more bytes)",
        "3 lines dropped: the plugin logs more than 0 a second",
    ]


def test_bytes_count_beside_lines() -> None:
    """A plugin may write to the pipe itself, past what ``ctx.log`` cuts."""
    taken: list[LogRecord] = []
    log = PluginLog("p", HostSettings(log_bytes_per_s=1_000), taken.append, Redactor([]))
    record = LogRecord(plugin="p", level="info", message="hi", stream="log", fields={"a": {"b": ["x" * 950]}})
    for _ in range(5):
        log.write(record)
    log.close()
    assert [each.message for each in taken] == ["hi", "hi", "3 lines dropped: the plugin logs more than 1,000 bytes a second"]


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_fields_that_no_json_log_can_hold_are_none(value: float) -> None:
    """``1e999`` is JSON to a reader, and no number to whoever reads the log."""
    with pytest.raises(ProtocolError, match="fields that are no JSON"):
        quiet(9)[0].write(LogRecord(plugin="p", level="info", message="hi", stream="log", fields={"a": [value]}))


def test_blank_lines_are_not_logged() -> None:
    log, taken = quiet(9)
    log.output(b"\n  \n\r\na\n")
    assert [record.message for record in taken] == ["a"]


def test_a_broken_sink_is_not_the_plugins_trouble(caplog: pytest.LogCaptureFixture) -> None:
    def sink(record: LogRecord) -> None:
        raise OSError("disk full")

    PluginLog("p", HostSettings(), sink, Redactor([])).host("info", "hello")
    assert caplog.messages == ["a log sink failed"]


def test_secrets_are_hidden_longest_first_and_short_ones_are_none() -> None:
    redactor = Redactor(["abcdef", "abcdefgh", "x"])
    assert redactor.text("x abcdefgh abcdef") == "x ••• •••"
    assert redactor.plain({"abcdef": ["abcdefgh", 1, None, {"a": "abcdef"}]}) == {"•••": ["•••", 1, None, {"a": "•••"}]}
    assert Redactor([]).plain({"a": 1}) == {"a": 1}


def test_secrets_come_from_variables_named_after_the_plugin() -> None:
    environment = {"NSPLUGIN_SECRET_ORDER_MAILS__SMTP_KEY": "a", "NSPLUGIN_SECRET_ORDER__KEY": "b", "PATH": "c"}
    assert from_environment("order.mails", environment) == {"SMTP_KEY": "a"}
    assert from_environment("order", environment) == {"KEY": "b"}


def test_without_a_sink_records_go_to_the_standard_logger(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "nsplugin.plugins")
    to_logging(LogRecord(plugin="p", level="warning", message="hm", stream="log"))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [("WARNING", "p: hm")]
