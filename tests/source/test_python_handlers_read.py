"""Handlers from source are described as the SDK describes the objects themselves."""

from __future__ import annotations

import pytest

from nsplugin.handler_objects import describe
from nsplugin.handlers import MISSING, Handler
from python_sources import codes, definition

FUNCTIONS = [
    "def f(): ...",
    "def f(payload): ...",
    "async def f(payload, attempt, ctx): ...",
    "def f(payload, attempt=1, *, ctx): ...",
    "def f(payload, /, attempt=1, *rest, ctx=None, **more): ...",
    "def f(*, a, b=2): ...",
    "def f(a, b=1, /, c=2): ...",
    "def f(a):\n  yield a",
    "async def f(a):\n  yield a",
    "def f(a):\n  def g(): yield a",
    "def f(a):\n  x = lambda: (yield)",
    "f = lambda payload, ctx=None: None",
    "f = lambda **kw: None",
    "f = 'expire'",
    "f = None",
    "f = 5",
    "f = 2.5",
    "f = True",
    "f = [1]",
    "f = {'a': 1}",
    "f = (1,)",
    "class f: ...",
    "f = g = None",
]


@pytest.mark.parametrize("statement", FUNCTIONS)
def test_the_words_and_parameters_are_those_of_the_object(statement: str) -> None:
    namespace: dict[str, object] = {}
    exec(statement, namespace)
    source = f"from nsplugin import Job, define_plugin\n{statement}\nplugin = define_plugin(jobs={{'a': Job(f)}})"
    assert definition(source).handlers == {"/jobs/a": describe(namespace["f"])}


@pytest.mark.parametrize(
    ("before", "handler"),
    [
        ("from elsewhere import f", "f"),
        ("import functools\ndef g(a, b): ...", "functools.partial(g, 1)"),
        ("class A:\n  def f(self, odd): ...", "A().f"),
        ("class A:\n  @staticmethod\n  def f(odd): ...", "A.f"),
        ("@decorate\ndef f(odd): ...", "f"),
        ("if x:\n  def f(odd): ...\nelse:\n  def f(other): ...", "f"),
        ("def make():\n  def inner(odd): ...\n  if inner: return inner\n  return 1", "make()"),
        ("", "missing"),
        ("", "[f for f in missing]"),
    ],
)
def test_what_is_not_known_of_a_handler_is_left_open(before: str, handler: str) -> None:
    source = f"from nsplugin import Job, define_plugin\n{before}\nplugin = define_plugin(jobs={{'a': Job({handler})}})"
    (found,) = definition(source).handlers.values()
    assert (found.callable, found.parameters, found.refused, found.missing) == (True, None, None, False)
    assert codes(source) == []


def test_a_function_made_by_another_is_known_by_its_own_parameters() -> None:
    source = (
        "from nsplugin import Job, define_plugin\ndef make():\n  def inner(odd): ...\n  return inner\n"
        "plugin = define_plugin(jobs={'a': Job(make())})"
    )
    assert codes(source) == ["NSP106"]


def test_a_handler_of_another_module_is_read_there() -> None:
    source = "from nsplugin import Job, define_plugin\nfrom handlers import f\nplugin = define_plugin(jobs={'a': Job(f)})"
    (found,) = definition(source, lambda *_: ("handlers.py", b"def f(odd): ...")).handlers.values()
    assert found.parameters is not None and [parameter.name for parameter in found.parameters] == ["odd"]


@pytest.mark.parametrize("job", ["Job()", "Job(max_attempts=3)", "{}", "{'maxAttempts': 3}"])
def test_a_handler_that_is_not_given_is_missing(job: str) -> None:
    source = f"from nsplugin import Job, define_plugin\nplugin = define_plugin(jobs={{'a': {job}}})"
    assert definition(source).handlers == {"/jobs/a": MISSING}


def test_define_job_without_its_handler_is_no_decorator_when_it_has_a_mapping() -> None:
    source = "from nsplugin.cogover import define_job\na = define_job({'key': 'a'})\nb = define_job(key='b')\njobs = [a, b]"
    assert definition(source).handlers == {"/jobs/0": MISSING}


def test_a_decorated_handler_under_define_job_is_open() -> None:
    source = "from nsplugin.cogover import define_job\n@define_job(key='a')\n@traced\nasync def a(odd): ...\njobs = [a]"
    assert definition(source).handlers == {"/jobs/0": Handler(described="async function a", callable=True)}
