"""The pipes of a host, with a stand-in for the host: what it may do to them, and what the core keeps of that."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from nsplugin_core.host.channel import Channel, Misbehaved
from nsplugin_core.host.protocol import Message, encode


@dataclass
class Ends:
    """A channel that runs in this thread, and what came through it."""

    process: subprocess.Popen[bytes]
    channel: Channel
    messages: list[Message] = field(default_factory=list)
    output: bytearray = field(default_factory=bytearray)


@contextmanager
def channel(code: str, output_bytes_per_s: int = 1 << 20) -> Iterator[Ends]:
    """A Python program in place of a host."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import os, sys, time\n" + code],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    messages: list[Message] = []
    output = bytearray()
    ends = Ends(process, Channel(process, messages.extend, output.extend, output_bytes_per_s), messages, output)
    try:
        yield ends
    finally:
        process.kill()
        process.wait()
        ends.channel.close()


def test_what_a_host_says_last_is_heard() -> None:
    with channel(
        """os.write(1, b'[{"t":"a"}]\\n[{"t":"b"}'); os.write(2, b"printed"); os.write(1, b']\\n[{"t":"cut"')"""
    ) as ends:
        ends.channel.run()
        assert (ends.messages, bytes(ends.output)) == ([{"t": "a"}, {"t": "b"}], b"printed")


def test_large_messages_reach_a_slow_reader_whole() -> None:
    code = """
data = b""
while data.count(b"\\n") < 3:
    time.sleep(0.002)
    data += os.read(0, 65536)
os.write(1, b'[{"t":"got","n":%d}]\\n' % len(data))
"""
    with channel(code) as ends:
        texts = [encode({"t": "x", "x": "y" * 1_000_000}) for _ in range(3)]
        threading.Timer(0.05, ends.channel.send, [texts]).start()
        ends.channel.run()
        assert ends.messages == [{"t": "got", "n": sum(len(text) + 3 for text in texts)}]


def test_a_host_that_reads_nothing_is_ended_before_the_core_runs_full() -> None:
    with channel("time.sleep(60)") as ends:
        text = encode({"t": "x", "x": "y" * 1_000_000})
        ends.channel.send([text] * 40)
        with pytest.raises(Misbehaved, match="it left more than 33,554,432 bytes of the core's answers unread"):
            ends.channel.run()


def test_a_host_that_closes_its_pipe_and_stays_is_ended() -> None:
    with channel("os.close(1); time.sleep(60)") as ends:
        started = time.monotonic()
        with pytest.raises(Misbehaved, match="it closed its connection to the core"):
            ends.channel.run()
        assert time.monotonic() - started < 10


def test_a_host_that_closes_its_other_pipes_goes_on() -> None:
    with channel("""os.close(0); os.close(2); time.sleep(0.2); os.write(1, b'[{"t":"still here"}]\\n')""") as ends:
        threading.Timer(0.1, ends.channel.send, [[encode({"t": "x"})]]).start()
        ends.channel.run()
        assert ends.messages == [{"t": "still here"}]


def test_an_exit_is_seen_though_somebody_else_holds_the_pipes() -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '20'], start_new_session=True); os._exit(0)"
    with channel(code) as ends:
        started = time.monotonic()
        ends.channel.run()
        assert time.monotonic() - started < 10


def test_output_is_read_no_faster_than_the_limit() -> None:
    with channel("os.write(2, b'x' * 200_000)", output_bytes_per_s=100_000) as ends:
        started = time.monotonic()
        ends.channel.run()
        assert len(ends.output) == 200_000
        assert 0.2 < time.monotonic() - started < 10
