"""What is evaluated without running it, and what is left unknown."""

from __future__ import annotations

import math
import string
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin.pointers import UNKNOWN
from python_sources import definition, raw, repository, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'a' 'b'", "ab"),
        ("'a' + 'b'", "ab"),
        ("f'a{1}b'", "a1b"),
        ("f'{3:02d} {2.5} {\"x\"!r} {None}'", "03 2.5 'x' None"),
        ("'%d-%s' % 5", UNKNOWN),
        ("'%02d 3 * * *' % 5", "05 3 * * *"),
        ("60 * 60 * 24", 86_400),
        ("2**10 - 1 // 2 % 3", 1024),
        ("-5", -5),
        ("~5", -6),
        ("not []", True),
        ("1 if 'x' else 2", 1),
        ("None or 'x'", "x"),
        ("'a' and 'b'", "b"),
        ("dict(a=1, **{'b': 2})", {"a": 1, "b": 2}),
        ("dict({'a': 1}, b=2)", {"a": 1, "b": 2}),
        ("{'a': 1} | {'a': 2, 'b': 3}", {"a": 2, "b": 3}),
        ("{**{'a': 1}, 'a': 2}", {"a": 2}),
        ("[*{True: 'a', 1: 'b', 1.0: 'c'}]", [True]),
        ("[1, *(2, 3), *'ab']", [1, 2, 3, "a", "b"]),
        ("[1] + [2]", [1, 2]),
        ("list((1, 2))", [1, 2]),
        ("tuple([1])", (1,)),
        ("{'a': [1, 2]}['a'][-1]", 2),
        ("(1, 'x')[1]", "x"),
        ("int('5') + len('abc') + len([1])", 9),
        ("float('inf')", math.inf),
        ("' '.join(['0', '3', '*', '*', '*'])", "0 3 * * *"),
        ("' A '.strip().lower()", "a"),
        ("(x := 'a')", "a"),
        ("b'ab'", b"ab"),
        ("True", True),
        ("{1, 2}", {1, 2}),
        ("str(5)", "5"),
        ("[x * 2 for x in (1, 2, 3) if x - 1]", [4, 6]),
        ("{k: v + 1 for k, v in {'a': 1, 'b': 2}.items()}", {"a": 2, "b": 3}),
        ("[(i, x, y) for i, x in enumerate('ab', 1) for y in range(2)]", [(1, "a", 0), (1, "a", 1), (2, "b", 0), (2, "b", 1)]),
        ("','.join(str(m) for m in range(0, 10, 3))", "0,3,6,9"),
        ("[[y for y in range(x)] for x in [1, 2]]", [[0], [0, 1]]),
        ("list({'a': 1}.keys()) + list({'a': 1}.values())", ["a", 1]),
        ("dict({x: 1 for x in 'ab'})", {"a": 1, "b": 1}),
        ("0x1F", 31),
    ],
)
def test_evaluable_expressions_are_evaluated(expression: str, expected: Any) -> None:
    found = value(expression)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    "expression",
    [
        "open('x').read()",
        "os.environ['ID']",
        "'a' if os.name == 'posix' else 'b'",
        "1 < 2",
        "'a' in 'abc'",
        "[x for x in os.listdir()]",
        "{x: 1 for x in (1, 2) if os.name}",
        "[x async for x in (1, 2)]",
        "[0 for _ in range(10**9)]",
        "[a for a, b in (1, 2)]",
        "[x for x in (1, 2) for y in range(1000)]",
        "{x for x in (1, 2)}",
        "{**os.environ}.get('a')",
        "print('a')",
        "missing",
        "'a' * 10**9",
        "10**10**10",
        "1 << 10**9",
        "[0] * 3",
        "1 / 0",
        "'a' + 1",
        "'a'.format(1)",
        "f'{1:>1000000}'",
        "'%1000000d' % 1",
        "await_me",
        "...",
        "lambda: 1",
        "''.zfill(10**9)",
        "max(range(10**9))",
        "{}['a']",
        "[][0]",
        "__name__",
        "(yield)" if False else "globals()",
    ],
)
def test_everything_else_is_unknown(expression: str) -> None:
    assert value(expression, "import os") is UNKNOWN


def test_a_part_that_is_unknown_leaves_the_rest_known() -> None:
    assert value("{'a': 1, 'b': os.name, 'c': [os.name, 2]}", "import os") == {"a": 1, "b": UNKNOWN, "c": [UNKNOWN, 2]}
    assert value("{'a': 1, os.name: 2}", "import os") == {"a": 1, UNKNOWN: UNKNOWN}
    assert value("{'a': 1, **os.environ, 'b': 2}", "import os") == {"a": UNKNOWN, UNKNOWN: UNKNOWN, "b": 2}
    assert value("[1, *os.argv]", "import os") == [1, UNKNOWN]
    assert value("[1] + os.argv", "import os") == [1, UNKNOWN]
    assert value("os.environ | {'a': 1}", "import os") == {UNKNOWN: UNKNOWN, "a": 1}


@pytest.mark.parametrize(
    ("before", "expression", "expected"),
    [
        ("NAME = 'a'", "NAME", "a"),
        ("NAME: Final = 'a'", "NAME", "a"),
        ("A, B = 'a', 'b'", "B", "b"),
        ("A = B = 'a'", "A", "a"),
        ("MINUTE = 5\nNAME = f'{MINUTE} * * * *'", "NAME", "5 * * * *"),
        ("class Limits:\n  SIZE = 'x'", "Limits.SIZE", "x"),
        ("import enum\nclass Name(enum.StrEnum):\n  A = 'a'", "Name.A", "a"),
        ("from enum import Enum\nclass Name(str, Enum):\n  A = 'a'", "Name.A", "a"),
        ("CONF = {'id': 'a'}", "CONF['id']", "a"),
        ("CONF = {'id': 'a'}\nprint(CONF, CONF['id'], CONF.get('b'))\nfor k in CONF: pass", "CONF['id']", "a"),
        ("CONF = {'id': 'a'}\nALIAS = CONF", "ALIAS['id']", "a"),
        ("CONF = {'id': 'a'}\ndef use(CONF):\n  CONF['id'] = 'b'", "CONF['id']", "a"),
        ("CONF = {'id': 'a'}\nMORE = {**CONF, 'x': 1}", "MORE", {"id": "a", "x": 1}),
        ("if debug:\n  NAME = 'a'", "NAME", "a"),
        ("def text():\n  return 'a'", "text()", "a"),
        ("import math", "math.inf", UNKNOWN),
        ("NAME = 'a'\ndef f():\n  NAME = 'b'", "NAME", "a"),
        ("X = 'a'\nNAME = X\n", "[NAME for Y in (1,)][0]", "a"),
        ("def f(): return y", "[f() for y in (1,)]", [UNKNOWN]),
        ("class A:\n  NAME = 'b'\nNAME = 'a'", "NAME", "a"),
    ],
)
def test_names_bound_once_are_followed(before: str, expression: str, expected: Any) -> None:
    assert value(expression, before) == expected


@pytest.mark.parametrize(
    ("before", "expression"),
    [
        ("NAME = 'a'\nNAME = 'b'", "NAME"),
        ("NAME = 'a'\nNAME += 'b'", "NAME"),
        ("NAME = 'a'\ndel NAME", "NAME"),
        ("NAME = 'a'\ndef f():\n  global NAME\n  NAME = 'b'", "NAME"),
        ("for NAME in ('a', 'b'): pass", "NAME"),
        ("with open('x') as NAME: pass", "NAME"),
        ("NAME = 'a'\nfor NAME in (): pass", "NAME"),
        ("if x:\n  NAME = 'a'\nelse:\n  NAME = 'b'", "NAME"),
        ("try:\n  pass\nexcept E as NAME: pass", "NAME"),
        ("match x:\n  case NAME: pass", "NAME"),
        ("NAME = 'a'\nglobals()['NAME'] = 'b'", "NAME"),
        ("NAME = 'a'\nexec('NAME = 1')", "NAME"),
        ("import os\nA, *B = os.argv", "B"),
        ("A = A", "A"),
        ("A = B\nB = A", "A"),
        ("def f():\n  if x: return 'a'\n  return 'b'", "f()"),
        ("async def f():\n  return 'a'", "f()"),
        ("def f(x):\n  return x", "f('a')"),
        ("def f():\n  return f()", "f()"),
        ("class A(B):\n  X = 'a'", "A.X"),
        ("@decorate\nclass A:\n  X = 'a'", "A.X"),
        ("import enum\nclass A(enum.Enum):\n  X = 'a'", "A.X"),
    ],
)
def test_names_that_may_change_are_unknown(before: str, expression: str) -> None:
    assert value(expression, before) is UNKNOWN


@pytest.mark.parametrize(
    "change",
    [
        "CONF['id'] = 'b'",
        "del CONF['id']",
        "CONF.update(id='b')",
        "CONF.setdefault('id', 'b')",
        "CONF |= {'id': 'b'}",
        "change(CONF)",
        "OTHER = CONF\nOTHER['id'] = 'b'",
        "OTHER = [CONF]\nOTHER[0]['id'] = 'b'",
        "def f():\n  CONF['id'] = 'b'\nf()",
        "def f():\n  return CONF",
        "def f(x=CONF):\n  x['id'] = 'b'",
        "(CONF)['id'] = 'b'",
        "holder.conf = CONF",
        "for CONF['id'] in ('b',): pass",
        "def wrap(f):\n  CONF[f.__name__] = f\n  return f",
        "yielded = (yield_ for yield_ in [CONF])",
        "lambda: CONF.clear()",
        "async def f():\n  CONF.pop('id')",
        "class A:\n  CONF['id'] = 'b'",
        "class A:\n  def f(self):\n    CONF['id'] = 'b'",
    ],
)
def test_a_mapping_that_anything_may_change_is_unknown(change: str) -> None:
    assert value("CONF['id']", f"CONF = {{'id': 'a'}}\n{change}") is UNKNOWN


@pytest.mark.parametrize(
    "change",
    ["JOBS['a']['id'] = 1", "for v in JOBS.values(): v['id'] = 1", "JOBS.get('a').clear()", "for v in LIST: v.clear()"],
)
def test_a_change_deep_inside_counts_too(change: str) -> None:
    before = f"JOBS = {{'a': {{'id': 'a'}}}}\nLIST = [JOBS]\n{change}"
    assert value("JOBS['a']['id']", before) is UNKNOWN


def test_a_name_used_before_it_is_bound_is_unknown() -> None:
    source = "from nsplugin import define_plugin\nplugin = define_plugin(id=NAME)\nNAME = 'a'"
    assert raw(source)["id"] is UNKNOWN


def test_names_of_other_modules_of_the_repository_are_followed() -> None:
    files = {
        "names.py": "ID = 'a'\nfrom deeper import VERSION\nJOBS = {}\nLIMITS = {'x': 1}\n",
        "deeper.py": "VERSION = f'{1}.0.0'\n",
        "package/__init__.py": "from package.inner import CRON\n",
        "package/inner.py": "CRON = '0 3 * * *'\n",
    }
    source = """
import names, package
import package.inner as inner
from names import ID as NAME, VERSION, JOBS, LIMITS
from nsplugin import define_plugin
plugin = define_plugin(id=[NAME, names.ID, VERSION, package.CRON, inner.CRON, package.inner.CRON, JOBS, LIMITS, names.MISSING])
"""
    found = raw(source, repository(files))["id"]
    assert found == ["a", "a", "1.0.0", "0 3 * * *", "0 3 * * *", "0 3 * * *", UNKNOWN, {"x": 1}, UNKNOWN]
    assert raw(source)["id"] == [UNKNOWN] * 9


def test_modules_that_import_each_other_end() -> None:
    files = {"a.py": "from b import X\nY = X", "b.py": "from a import Y\nX = Y", "plugin.py": ""}
    source = "from a import Y\nfrom nsplugin import define_plugin\nplugin = define_plugin(id=Y)"
    assert raw(source, repository(files))["id"] is UNKNOWN


@pytest.mark.parametrize(("stars", "expected"), [("empty", "a"), ("names", UNKNOWN), ("elsewhere", UNKNOWN)])
def test_a_star_import_may_bind_a_name_anew(stars: str, expected: Any) -> None:
    source = f"from nsplugin import define_plugin\nID = 'a'\nfrom {stars} import *\nplugin = define_plugin(id=ID)"
    assert raw(source, repository({"empty.py": "", "names.py": "ID = 'b'"}))["id"] == expected


def test_names_come_from_star_imports_of_the_repository() -> None:
    source = "from nsplugin import define_plugin\nfrom names import *\nplugin = define_plugin(id=ID)"
    assert raw(source, repository({"names.py": "ID = 'b'"}))["id"] == "b"


def test_an_endless_row_of_modules_ends() -> None:
    def resolve(importer: str, dotted: str) -> tuple[str, bytes] | None:
        number = int(dotted[1:])
        return f"m{number}.py", f"from m{number + 1} import X".encode()

    source = "from m0 import X\nfrom nsplugin import define_plugin\nplugin = define_plugin(id=X)"
    assert raw(source, resolve)["id"] is UNKNOWN


@pytest.mark.parametrize(
    "source",
    [
        "\n".join(["A0 = {'a': 1}", *(f"A{n} = {{'a': A{n - 1}, 'b': A{n - 1}}}" for n in range(1, 60)), "X = A59"]),
        "\n".join(["A0 = 'a'", *(f"A{n} = A{n - 1} + A{n - 1}" for n in range(1, 60)), "X = A59"]),
        "\n".join(["A0 = (1,)", *(f"A{n} = (*A{n - 1}, *A{n - 1})" for n in range(1, 60)), "X = A59"]),
        "\n".join(["A0 = 2", *(f"A{n} = A{n - 1} ** A{n - 1}" for n in range(1, 60)), "X = A59"]),
        "\n".join(["A0 = 'a'", *(f"A{n} = A{n - 1}" for n in range(1, 3000)), "X = A2999"]),
        "\n".join(["A0 = {}", *(f"A{n} = A{n - 1}" for n in range(1, 3000)), "X = A2999"]),
        "\n".join(["A0 = {}", *(f"A{n} = {{**A{n - 1}}}" for n in range(1, 300)), "X = A299"]),
        "X = " + "+".join(["'a'"] * 900),
        "X = " + "[" * 190 + "]" * 190,
        "X = " + "-" * 900 + "1",
        "X = " + "not " * 900 + "1",
        "X = a" + ".b" * 900,
        "X = f" + "()" * 900,
        "X = " + "0 if 0 else " * 900 + "1",
        "X = " + "lambda: " * 900 + "1",
        "X = 0x" + "f" * 100_000,
        "X = [" + "1," * 100_000 + "]",
        "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(500)) + "\nX = f0()",
        "\n".join(f"class C{n}(C{n + 1}): pass" for n in range(500)) + "\nX = C0.x",
    ],
)
def test_evaluation_is_bounded(source: str) -> None:
    """Doubling, deep and long expressions end at once, as a value or as unknown."""
    before = time.monotonic()
    definition(f"from nsplugin import define_plugin\n{source}\nplugin = define_plugin(id=X)")
    assert time.monotonic() - before < 10


SCALARS = st.one_of(
    st.integers(-1000, 1000).map(repr),
    st.text(alphabet=string.ascii_letters + " *é", max_size=4).map(repr),
    st.sampled_from(["True", "False", "None", "1.5", "b'x'", "''", "0"]),
)


def _wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda pair: f"({pair[0]} + {pair[1]})"),
        two.map(lambda pair: f"({pair[0]} * {pair[1]})"),
        two.map(lambda pair: f"({pair[0]} - {pair[1]})"),
        two.map(lambda pair: f"({pair[0]} // {pair[1]})"),
        two.map(lambda pair: f"({pair[0]} % {pair[1]})"),
        two.map(lambda pair: f"({pair[0]} | {pair[1]})"),
        two.map(lambda pair: f"({pair[0]} or {pair[1]})"),
        two.map(lambda pair: f"({pair[0]} and {pair[1]})"),
        two.map(lambda pair: f"[{pair[0]}, {pair[1]}]"),
        two.map(lambda pair: f"({pair[0]}, {pair[1]})"),
        two.map(lambda pair: f"[*[{pair[0]}], {pair[1]}]"),
        two.map(lambda pair: f"{{'a': {pair[0]}, 'b': {pair[1]}}}"),
        two.map(lambda pair: f"{{'a': {pair[0]}, **{{'a': {pair[1]}}}}}"),
        two.map(lambda pair: f"dict(a={pair[0]}, b={pair[1]})"),
        two.map(lambda pair: f"({pair[0]})[{pair[1]}]"),
        st.tuples(inner, inner, inner).map(lambda three: f"({three[0]} if {three[1]} else {three[2]})"),
        inner.map(lambda each: f"(-{each})"),
        inner.map(lambda each: f"(not {each})"),
        inner.map(lambda each: f"len({each})"),
        inner.map(lambda each: f"str({each})"),
        inner.map(lambda each: f"int({each})"),
        inner.map(lambda each: f"list({each})"),
        inner.map(lambda each: f"[[x, {each}] for x in 'ab']"),
        inner.map(lambda each: f"[y for y in {each} if y]"),
        two.map(lambda pair: f"{{k: {pair[0]} for k in {pair[1]}}}"),
        inner.map(lambda each: f"list(enumerate({each}))"),
        inner.map(lambda each: f"list({{'a': {each}}}.items())"),
        inner.map(lambda each: f"({each}).strip()"),
        inner.filter(lambda each: '"' not in each and "\\" not in each and "{" not in each).map(
            lambda each: f'f"<{{{each}}}>"'
        ),
    )


def _agrees(found: Any, expected: Any) -> bool:
    if found is UNKNOWN:
        return True
    if type(found) is not type(expected):
        return False
    if isinstance(found, dict):
        return found.keys() == expected.keys() and all(_agrees(item, expected[key]) for key, item in found.items())
    if isinstance(found, (list, tuple)):
        return len(found) == len(expected) and all(map(_agrees, found, expected))
    return bool(found == expected)


@settings(max_examples=400, deadline=None)
@given(st.recursive(SCALARS, _wider, max_leaves=8))
def test_what_is_evaluated_is_what_the_interpreter_would_give(expression: str) -> None:
    """The interpreter is the oracle: our value is its value, or unknown. Where it raises, no module loads and all is well."""
    found = value(expression)
    try:
        expected = eval(compile(expression, "x", "eval"), {})
    except Exception:
        return
    assert _agrees(found, expected), (expression, found, expected)
