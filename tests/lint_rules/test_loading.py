"""NSP401: nothing runs by the clock because the entry was loaded (spec/nextskin.md D1)."""

from __future__ import annotations

import pytest

from python_sources import codes, problems, text_at

PLUGIN = "\nfrom nsplugin import Job, define_plugin\ndef tidy(ctx): pass\nplugin = define_plugin(jobs={'tidy': Job(tidy)})\n"

STARTED = {
    "threading.Timer(5, print).start()": "threading.Timer",
    "from threading import Timer as T\nT(5, print).start()": "threading.Timer",
    "import threading as t\ntimer = t.Timer(5, print)\ntimer.daemon = True\ntimer.start()": "threading.Timer",
    "asyncio.run(main())": "asyncio.run",
    "asyncio.create_task(main())": "asyncio.create_task",
    "from asyncio import ensure_future\ntask = ensure_future(main())": "asyncio.ensure_future",
    "loop = asyncio.get_event_loop()\nloop.call_later(5, print)": "call_later",
    "asyncio.new_event_loop().run_until_complete(main())": "run_until_complete",
    "asyncio.get_event_loop().run_forever()": "run_forever",
    "import sched\ns = sched.scheduler()\ns.enter(5, 1, print)": "sched.scheduler",
    "import schedule\nschedule.every(10).minutes.do(print)": "schedule.every",
    "import schedule\nschedule.every().day.at('10:30').do(print)": "schedule.every",
    (
        "from apscheduler.schedulers.background import BackgroundScheduler\ns = BackgroundScheduler()\ns.start()"
    ): "BackgroundScheduler",
    "from apscheduler.schedulers.asyncio import AsyncIOScheduler\ns = AsyncIOScheduler(timezone='UTC')\ns.add_job(print)": (
        "AsyncIOScheduler"
    ),
    "import apscheduler.schedulers.blocking as b\ns = b.BlockingScheduler()\n@s.scheduled_job('cron')\ndef x(): pass": (
        "BlockingScheduler"
    ),
    "import signal\nsignal.setitimer(signal.ITIMER_REAL, 5)": "signal.setitimer",
    "import signal\nsignal.alarm(5)": "signal.alarm",
    "import trio\ntrio.run(main)": "trio.run",
    "if DEBUG:\n  asyncio.run(main())": "asyncio.run",
    "try:\n  asyncio.run(main())\nexcept E:\n  pass": "asyncio.run",
    "with open('x') as f:\n  asyncio.run(main())": "asyncio.run",
    "for x in (1, 2):\n  threading.Timer(x, print).start()": "threading.Timer",
    "class Clock:\n  threading.Timer(5, print).start()": "threading.Timer",
    "tasks = [asyncio.create_task(x()) for x in ()]": "asyncio.create_task",
    "match DEBUG:\n  case True:\n    asyncio.run(main())": "asyncio.run",
    "if __name__ == '__main__':\n  pass\nelse:\n  asyncio.run(main())": "asyncio.run",
    "@register(asyncio.create_task(main()))\ndef x(): pass": "asyncio.create_task",
    "def x(task=asyncio.create_task(main())): pass": "asyncio.create_task",
    "while True:\n  print(1)": "an endless loop",
    "while 1: pass": "an endless loop",
    "while True:\n  for x in y:\n    break": "an endless loop",
    "import itertools\nfor n in itertools.count():\n  print(n)": "an endless loop",
    "import itertools\nfor n in itertools.repeat(1): pass": "an endless loop",
    "class A:\n  while True: pass": "an endless loop",
    "while True:\n  def f():\n    return 1": "an endless loop",
}
QUIET = [
    "threading.Timer(5, print)",
    "t = threading.Timer(5, print)\nt.cancel()",
    "threading.Thread(target=print).start()",
    "def start():\n  threading.Timer(5, print).start()",
    "async def start():\n  asyncio.create_task(main())\n  while True:\n    await asyncio.sleep(1)",
    "start = lambda: asyncio.run(main())",
    "class A:\n  def start(self):\n    asyncio.run(main())",
    "if __name__ == '__main__':\n  asyncio.run(main())\n  while True: pass",
    "if '__main__' == __name__:\n  asyncio.run(main())",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  asyncio.run(main())",
    "import typing\nif typing.TYPE_CHECKING:\n  while True: pass",
    "if False:\n  asyncio.run(main())",
    "import other as asyncio2\nasyncio2.run(main())",
    "import asyncio as aio\naio = other\naio.run(main())",
    "from mine import schedule\nschedule.every(10)",
    "class asyncio2:\n  @staticmethod\n  def run(x): pass\nasyncio2.run(1)",
    "lock = asyncio.Lock()\nloop = asyncio.get_event_loop()",
    "import sched\ns = sched.scheduler()",
    "import signal\nsignal.signal(signal.SIGTERM, print)",
    "while True:\n  if x: break",
    "while True:\n  raise SystemExit",
    "import sys\nwhile True:\n  sys.exit()",
    "while x: pass",
    "while True:\n  try:\n    break\n  except E: pass",
    "import itertools\nfor n in itertools.count():\n  if n > 5: break",
    "import itertools\nfor n in itertools.repeat(1, 5): pass",
    "import itertools\nx = itertools.count()",
    "text = 'asyncio.run(main())  while True: pass'",
    "# asyncio.run(main())",
    "asyncio.run",
]


@pytest.mark.parametrize(("source", "what"), list(STARTED.items()))
def test_what_loading_the_module_starts_is_found(source: str, what: str) -> None:
    whole = f"import asyncio, threading\n{source}{PLUGIN}"
    (problem,) = problems(whole)
    assert (problem.code, problem.message) == ("NSP401", f"{what} starts when the module is loaded")
    assert text_at(whole, problem.span) in source


@pytest.mark.parametrize("source", QUIET)
def test_what_is_not_started_by_loading_is_left_alone(source: str) -> None:
    assert codes(f"import asyncio, threading\n{source}{PLUGIN}") == []


def test_each_timer_is_one_finding_at_its_place() -> None:
    source = f"import asyncio, threading\nasyncio.run(asyncio.sleep(1)); threading.Timer(\n  5,\n  print).start()\n{PLUGIN}"
    found = [(problem.code, problem.span) for problem in problems(source)]
    assert found == [("NSP401", (2, 1, 2, 30)), ("NSP401", (2, 32, 4, 17))]


def test_the_loops_head_is_underlined() -> None:
    source = f"while True:\n  print(1)\n{PLUGIN}"
    (problem,) = problems(source)
    assert text_at(source, problem.span) == "while True"


def test_two_definitions_in_a_file_share_one_finding() -> None:
    source = (
        "import asyncio\nfrom nsplugin import define_plugin\na = define_plugin(id='a')\n"
        "b = define_plugin(id='b')\nasyncio.run(x())"
    )
    assert codes(source) == ["NSP401"]


def test_the_hint_says_where_the_platform_has_its_schedules() -> None:
    source = (
        "import asyncio\nasyncio.run(x())\nfrom nsplugin.cogover import define_job\njobs = [define_job({'key': 'a'}, print)]"
    )
    (problem,) = problems(source)
    assert problem.hint == 'declare the work as a job with a "schedule"'


def test_a_file_that_defines_nothing_may_start_what_it_wants() -> None:
    assert codes("import asyncio\nasyncio.run(main())  # nsplugin\n") == []
