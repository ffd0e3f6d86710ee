"""Every kind of bad plugin beside a good one in one served core: each harms only its own tasks."""

from __future__ import annotations

import time
from functools import partial

from service_world import Site
from waiting import until

BAD = {
    "blocks": "time.sleep(3600)",
    "spins": "while True: pass",
    "leaks": "hoard = []\n        while True: hoard.append(bytearray(1 << 26))",
    "exits": "os._exit(9)",
    "kills": "import signal; os.kill(os.getpid(), signal.SIGKILL)",
    "forks": "os.fork(); os.fork(); time.sleep(3600)",
    "floods": "while True: print('x' * 1000)",
    "garbage": "os.write(1, os.urandom(1 << 20)); os.write(2, os.urandom(1 << 20)); time.sleep(3600)",
    "huge": "ctx.log.info('x' * 10_000_000); raise ValueError('y' * 10_000_000)",
    "closes": "[os.close(fd) for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}')]; time.sleep(3600)",
    "interrupts": "import threading, _thread; _thread.interrupt_main(); raise SystemExit(5)",
    "recurses": "def deep(): deep()\n        import sys; sys.setrecursionlimit(10**6); deep()",
}
BODY = """
    def work(payload, attempt, ctx):
        {0}
    plugin = define_plugin(jobs={{"work": {{"handler": work, "timeoutMs": 60000}}}})
"""
GOOD = """
    def work(payload, attempt, ctx):
        note(f"{payload['sent']} {time.time()}")
    plugin = define_plugin(jobs={"work": {"handler": work}})
"""


def _grown(site: Site, seen: int) -> bool:
    return len(site.diary("good")) > seen


def test_a_good_plugin_lives_on_among_bad_ones(local: Site) -> None:
    local.install(GOOD, plugin="good")
    for name, line in BAD.items():
        local.install(BODY.format(line), plugin=name)
    served = local.serve("--workers", "2", "--grace", "0.2")
    for name in BAD:
        for _ in range(3):
            local.enqueue("work", plugin=name)
    for _ in range(40):
        seen = len(local.diary("good"))
        local.enqueue("work", {"sent": time.time()}, plugin="good")
        until(partial(_grown, local, seen), "the good one's task", 15)
    until(lambda: not local.count("queued", "good") + local.count("running", "good"), "the good one's ends")
    assert served.process.poll() is None
    assert served.memory_kib() < 120 * 1024
    assert served.log.stat().st_size < 100 << 20
    with local.store() as store:
        assert [each.outcome for each in store.tasks.recent("good", 100)] == ["success"] * 40
        for name in BAD:
            assert store.tasks.recent(name, 1) or local.count("running", name), f"{name} was never tried"
    assert served.stop() == 0
