"""Which calls are definitions, under whatever names (spec/sdk.md)."""

from __future__ import annotations

import pytest

from nsplugin.pointers import UNKNOWN
from nsplugin_cli.source.python import read_python
from python_sources import codes, definition, definitions, raw, repository, text_at

EXPIRE = "async def expire(payload, ctx): ...\n"


@pytest.mark.parametrize(
    "source",
    [
        "from nsplugin import define_plugin\nplugin = define_plugin(id='a')",
        "from nsplugin import define_plugin as x\nplugin = x(id='a')",
        "import nsplugin\nplugin = nsplugin.define_plugin(id='a')",
        "import nsplugin as n\nplugin = n.define_plugin(id='a')",
        "from nsplugin import *\nplugin = define_plugin(id='a')",
        "import nsplugin\ndefine = nsplugin.define_plugin\nplugin = define(id='a')",
        "from nsplugin.definition.plugin import define_plugin\nplugin = define_plugin(id='a')",
        "from nsplugin import (\n  Job,\n  define_plugin as dp,\n)\nplugin: object = dp(id='a')",
        "try:\n  from nsplugin import define_plugin\nexcept ImportError:\n  define_plugin = None\n"
        "plugin = define_plugin(id='a')",
        "try:\n  from nsplugin import define_plugin\nexcept ImportError:\n  from vendored import define_plugin\n"
        "plugin = define_plugin(id='a')",
        "import sys\nif sys.version_info > (3, 11):\n  from nsplugin import define_plugin\nelse:\n"
        "  from nsplugin import define_plugin\nplugin = define_plugin(id='a')",
        "import nsplugin\nif True:\n  with open('x') as f:\n    plugin = nsplugin.define_plugin(id='a')",
        "import nsplugin\ntry:\n  plugin = nsplugin.define_plugin(id='a')\nfinally:\n  pass",
        "import nsplugin\nprint(plugin := nsplugin.define_plugin(id='a'))",
        "from nsplugin import define_plugin\nplugin = define_plugin({'id': 'a'})",
        "from nsplugin import define_plugin\nplugin = define_plugin(dict(id='a'))",
        "from nsplugin import define_plugin\nplugin = define_plugin(**{'id': 'a'})",
        "from nsplugin import define_plugin\ndef make():\n  name = 'a'\n  return define_plugin(id=name)\nplugin = make()",
    ],
)
def test_a_plugin_is_found_under_any_spelling(source: str) -> None:
    found = definition(source)
    assert (found.platform, found.attribute, found.raw) == ("nextskin", "plugin", {"id": "a"})


@pytest.mark.parametrize(
    "source",
    [
        "def define_plugin(**kw): ...\nplugin = define_plugin(id='a')  # nsplugin",
        "from elsewhere import define_plugin\nplugin = define_plugin(id='a')",
        "from nsplugin import define_plugin\ndef define_plugin(**kw): ...\nplugin = define_plugin(id='a')",
        "from nsplugin import define_plugin\ndefine_plugin = print\nplugin = define_plugin(id='a')",
        "from nsplugin import define_plugin\nfrom elsewhere import define_plugin\nplugin = define_plugin(id='a')",
        "from nsplugin import define_plugin\nclass A:\n  define_plugin = print\n  plugin = define_plugin(id='a')",
        "import nsplugin\nnsplugin = 3\nplugin = nsplugin.define_plugin(id='a')",
        "import nsplugin\nfor nsplugin in []: pass\nplugin = nsplugin.define_plugin(id='a')",
        "import other.nsplugin\nplugin = other.nsplugin.define_plugin(id='a')",
        "import nsplugin_extra\nplugin = nsplugin_extra.define_plugin(id='a')",
        "plugin = define_plugin(id='a')",
        "# from nsplugin import define_plugin\n'define_plugin(id=1)'",
        "from nsplugin import define_plugin\ndef later():\n  return define_plugin(id='a')",
        "from nsplugin import define_plugin\nif __name__ == '__main__':\n  plugin = define_plugin(id='a')",
        "from typing import TYPE_CHECKING\nfrom nsplugin import define_plugin\nif TYPE_CHECKING:\n"
        "  plugin = define_plugin(id='a')",
        "from nsplugin import define_plugin\nlate = lambda: define_plugin(id='a')",
    ],
)
def test_what_is_shadowed_or_never_loaded_defines_nothing(source: str) -> None:
    assert definitions(source) == ()


def test_objects_and_mappings_give_the_same_raw_manifest() -> None:
    """spec/sdk.md: the source's own shape works too, with the manifest's names."""
    objects = f"""
from nsplugin import Cron, Job, Route, define_plugin
{EXPIRE}
plugin = define_plugin(
    id="cache", version="1.0.0", capabilities=["storage.kv"],
    jobs={{"expire": Job(expire, max_attempts=5, timeout_ms=60_000)}},
    cron=[Cron("0 3 * * *", job="expire", payload={{"key": "daily"}})],
    routes={{"POST /expire": Route(expire, auth="user")}},
)
"""
    mappings = f"""
from nsplugin import define_plugin
{EXPIRE}
plugin = define_plugin({{
    "id": "cache", "version": "1.0.0", "capabilities": ["storage.kv"],
    "jobs": {{"expire": {{"handler": expire, "maxAttempts": 5, "timeoutMs": 60_000}}}},
    "cron": [{{"schedule": "0 3 * * *", "job": "expire", "payload": {{"key": "daily"}}}}],
    "routes": {{"POST /expire": {{"handler": expire, "auth": "user"}}}},
}})
"""
    assert raw(objects) == raw(mappings)
    assert raw(objects)["jobs"] == {"expire": {"maxAttempts": 5, "timeoutMs": 60_000}}
    assert definition(objects).handlers == definition(mappings).handlers
    assert set(definition(objects).handlers) == {"/jobs/expire", "/routes/POST ~1expire"}


def test_positional_and_named_arguments_follow_the_sdks_signatures() -> None:
    source = f"""
from nsplugin import Cron, Job, Route, define_plugin
{EXPIRE}
plugin = define_plugin(jobs={{"a": Job(handler=expire)}}, cron=[Cron(schedule="* * * * *", job="a")],
    routes={{"GET /": Route(handler=expire, auth="user")}})
"""
    assert raw(source) == {
        "jobs": {"a": {}},
        "cron": [{"schedule": "* * * * *", "job": "a"}],
        "routes": {"GET /": {"auth": "user"}},
    }


JOBS = """
from nsplugin.cogover import Schedule, define_job
@define_job(key="first", timeout_ms=1_000)
async def first(payload): ...
second = define_job({"key": "second", "maxAttempts": 3}, lambda: None)
jobs = [
    first,
    second,
    define_job(key="third", schedule=Schedule("* * * * *", timezone="UTC"))(first),
]
"""


def test_jobs_are_found_as_decorators_assigned_names_and_inside_the_list() -> None:
    found = definition(JOBS)
    assert (found.platform, found.attribute) == ("cogover", "jobs")
    assert found.raw == {
        "jobs": [
            {"key": "first", "timeoutMs": 1000},
            {"key": "second", "maxAttempts": 3},
            {"key": "third", "schedule": {"cron": "* * * * *", "timezone": "UTC"}},
        ]
    }
    assert text_at(JOBS, found.call).startswith("[\n    first") and text_at(JOBS, found.call).endswith("]")
    assert sorted(found.handlers) == ["/jobs/0", "/jobs/1", "/jobs/2"]


def test_jobs_without_a_list_come_together_with_room_for_more() -> None:
    source = JOBS.partition("jobs = [")[0]
    found = definition(source)
    assert found.attribute is None
    assert found.raw == {"jobs": [{"key": "first", "timeoutMs": 1000}, {"key": "second", "maxAttempts": 3}, UNKNOWN]}
    assert codes(source.replace("1_000", "1")) == ["NSP105"]


def test_a_job_that_the_list_leaves_out_is_still_read() -> None:
    listed, left = definitions(JOBS.replace("    second,\n", ""))
    assert listed.attribute == "jobs" and len(listed.raw["jobs"]) == 2
    assert left.attribute is None and left.raw == {"jobs": [{"key": "second", "maxAttempts": 3}, UNKNOWN]}


@pytest.mark.parametrize(
    "listing",
    [
        "jobs = [job for job in collect()]",
        "jobs = []\njobs.append(first)\njobs.append(second)",
        "jobs = [first]\njobs += [second]",
        "jobs = collect()",
        "jobs = [first, second]\nregister(jobs)",
    ],
)
def test_a_list_that_is_not_known_may_hold_every_job_and_more(listing: str) -> None:
    found = definition(JOBS.partition("jobs = [")[0] + listing)
    assert found.attribute == "jobs"
    assert found.raw["jobs"][-1] is UNKNOWN and len(found.raw["jobs"]) == 3


def test_a_list_made_by_a_comprehension_over_what_is_known_is_known() -> None:
    source = """
from nsplugin.cogover import define_job
KINDS = {"new": 30_000, "old": 99}
def handler(kind):
    async def handle(payload): ...
    return handle
jobs = [define_job({"key": f"sync_{kind}", "timeoutMs": limit}, handler(kind)) for kind, limit in KINDS.items()]
"""
    found = definition(source)
    assert found.raw == {"jobs": [{"key": "sync_new", "timeoutMs": 30_000}, {"key": "sync_old", "timeoutMs": 99}]}
    assert text_at(source, found.spans.locate("/jobs/1/timeoutMs")) == "99"
    assert codes(source) == ["NSP105"]


def test_other_list_names_count_when_there_is_no_jobs() -> None:
    """The project file's entry may name another attribute."""
    found = definition(JOBS.replace("jobs = [", "nightly = [").replace("cogover", "cogover"))
    assert found.attribute == "nightly" and len(found.raw["jobs"]) == 3


def test_a_list_takes_jobs_of_other_modules_by_their_key_alone() -> None:
    """Their own faults are found where they are defined; a duplicate is found in the list."""
    files = {
        "orders.py": "from nsplugin.cogover import define_job\n@define_job(key='sync', timeout_ms=5)\ndef sync(): ...\n",
        "main.py": "",
    }
    source = (
        "from orders import sync\nfrom nsplugin.cogover import define_job\n"
        "x = define_job({'key': 'sync'}, print)\njobs = [sync, x]\n"
    )
    resolve = repository(files)
    found = definition(source, resolve)
    assert found.raw == {"jobs": [{"key": "sync", UNKNOWN: UNKNOWN}, {"key": "sync"}]}
    assert text_at(source, found.spans.locate("/jobs/0/key")) == "sync"
    assert codes(source, resolve) == ["NSP107"]
    assert codes(files["orders.py"]) == ["NSP105"]


def test_an_entry_that_only_lists_jobs_of_other_modules_is_a_definition() -> None:
    files = {"orders.py": "from nsplugin.cogover import define_job\n@define_job(key='sync')\ndef sync(): ...\n"}
    found = definition("from orders import sync\njobs = [sync]\n", repository(files))
    assert found.raw == {"jobs": [{"key": "sync", UNKNOWN: UNKNOWN}]}
    assert definitions("from orders import sync\njobs = [sync]\n") == ()
    assert definitions("jobs = ['a', 'b']\n", repository(files)) == ()


@pytest.mark.parametrize(
    ("call", "code", "message", "hint"),
    [
        (
            "jobs={'a': Job(f, max_attempt=3)}",
            "NSP006",
            "Job has no parameter `max_attempt`",
            "did you mean `max_attempts`?",
        ),
        ("jobs={'a': f}", "NSP007", "function f cannot stand here", "write Job(…)"),
        ("jobs={'a': Cron('* * * * *', job='a')}", "NSP007", "a Cron cannot stand here", "write Job(…)"),
        ("platform='nextskin'", "NSP006", "define_plugin takes no `platform`: the build writes it", "leave it out"),
        ("jobs={1: Job(f)}", "NSP007", "the key the value 1 is not a string", "keys are strings: put it in quotes"),
    ],
)
def test_faults_of_the_call_itself_are_found_in_the_sdks_words(call: str, code: str, message: str, hint: str) -> None:
    source = f"from nsplugin import *\ndef f(ctx): ...\nplugin = define_plugin({call})"
    (problem,) = definition(source).problems
    assert (problem.code, problem.message, problem.hint) == (code, message, hint)


def test_arguments_that_are_unpacked_from_the_unknown_leave_room() -> None:
    source = "from nsplugin import *\nimport os\nplugin = define_plugin(id='a', **os.environ)"
    assert raw(source) == {"id": "a", UNKNOWN: UNKNOWN}
    source = "from nsplugin import *\nimport os\nplugin = define_plugin({'id': 'a', **os.environ, 'version': '1'})"
    assert raw(source) == {"id": UNKNOWN, UNKNOWN: UNKNOWN, "version": "1"}


def test_a_job_whose_options_are_unpacked_from_the_unknown_misses_no_handler() -> None:
    source = "from nsplugin import *\nimport os\nplugin = define_plugin(jobs={'a': Job(**os.environ), 'b': os.environ})"
    found = definition(source)
    assert found.handlers == {} and found.raw["jobs"] == {"a": {UNKNOWN: UNKNOWN}, "b": UNKNOWN}


def test_two_plugins_in_a_file_are_two_definitions() -> None:
    source = "from nsplugin import *\na = define_plugin(id='a')\nb = define_plugin(id='b')"
    assert [(found.attribute, found.raw["id"]) for found in definitions(source)] == [("a", "a"), ("b", "b")]


def test_a_file_that_mentions_nothing_is_still_parsed() -> None:
    assert read_python(b"x = 1\n", "a.py").unreadable is None
    assert read_python(b"x = (1\n", "a.py").unreadable is not None
