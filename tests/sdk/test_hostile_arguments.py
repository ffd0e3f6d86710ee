"""What nobody should pass to a definer gives a clear problem, and never an exception of another kind or a hang."""

from __future__ import annotations

import time
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin import Cron, DefinitionError, Job, Plugin, Route, define_plugin
from nsplugin.cogover import ValidationError, define_job
from nsplugin.definition.job import Decorator, JobDefinition
from untouchable import untouchable

define: Callable[..., Plugin] = define_plugin
define_one: Callable[..., Any] = define_job


def expire(payload: Any) -> None: ...


def listed(call: Callable[[], Any]) -> list[str]:
    """The problems of a call, one line each, found within a second."""
    started = time.perf_counter()
    with pytest.raises(DefinitionError) as caught:
        call()
    assert time.perf_counter() - started < 5
    assert str(caught.value)
    return [f"{item.code} {item.pointer}: {item.message}" for item in caught.value.problems]


def with_payload(payload: Any) -> Plugin:
    return define(jobs={"a": Job(expire)}, cron=[Cron("0 3 * * *", job="a", payload=payload)])


class Raising(UserDict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise LookupError("secret text of the author's")


class Endless(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return {"handler": expire}

    def __iter__(self) -> Iterator[str]:
        number = 0
        while True:
            number += 1
            yield f"job{number}"

    def __len__(self) -> int:
        return 1


class Lying(dict[str, Any]):
    """A dict whose methods tell something else than it holds."""

    def __getitem__(self, key: str) -> Any:
        raise LookupError

    def __iter__(self) -> Iterator[str]:
        raise LookupError

    def items(self) -> Any:
        raise LookupError

    def keys(self) -> Any:
        raise LookupError

    def get(self, key: Any, default: Any = None) -> Any:
        raise LookupError


class Number(int):
    def __lt__(self, other: int) -> bool:
        raise LookupError

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: object) -> bool:
        raise LookupError

    def __hash__(self) -> int:
        raise LookupError

    def __repr__(self) -> str:
        raise LookupError


class Unprintable:
    def __repr__(self) -> str:
        raise LookupError

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise LookupError

    def __hash__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        raise LookupError


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: define(jobs=Raising({"a": 1})), "NSP007 /jobs: this Raising cannot be read: reading it raised LookupError"),
        (lambda: define(Raising({"id": "a"})), "NSP007 : this Raising cannot be read: reading it raised LookupError"),
        (
            lambda: define(jobs={"a": Raising({"handler": 1})}),
            "NSP007 /jobs/a: this Raising cannot be read: reading it raised LookupError",
        ),
        (
            lambda: define_one(Raising({"key": "a"}), expire),
            "NSP007 : this Raising cannot be read: reading it raised LookupError",
        ),
        (lambda: define(jobs=Endless()), "NSP007 /jobs: more than 40,000 entries"),
        (lambda: define(jobs={f"j{n}": Job(expire) for n in range(40_001)}), "NSP007 /jobs: more than 40,000 entries"),
        (lambda: define(cron=[{}] * 40_001), "NSP007 /cron: more than 40,000 entries"),
        (lambda: define(cron=(item for item in [])), "NSP007 /cron: cron must be a list, not an instance of generator"),
        (
            lambda: define(capabilities={"storage.kv"}),
            "NSP007 /capabilities: capabilities must be a list, not an instance of set",
        ),
        (
            lambda: define(capabilities=iter(["storage.kv"])),
            "NSP007 /capabilities: capabilities must be a list, not an instance of list_iterator",
        ),
        (lambda: define(jobs={5: Job(expire)}), "NSP007 /jobs: the key the value 5 is not a string"),
        (lambda: define(jobs={None: Job(expire)}), "NSP007 /jobs: the key None is not a string"),
        (lambda: define(jobs={Unprintable(): Job(expire)}), "NSP007 /jobs: the key an instance of Unprintable is not a string"),
        (lambda: define(id=Unprintable()), "NSP007 /id: id must be a string, not an instance of Unprintable"),
        (lambda: define(id=b"cache"), "NSP007 /id: id must be a string, not an instance of bytes"),
        (lambda: define(routes={"GET /": Unprintable()}), "NSP007 /routes/GET ~1: "),
        (lambda: with_payload({"a": Unprintable()}), "NSP301 /cron/0/payload/a: "),
        (lambda: with_payload({5: "a"}), "NSP301 /cron/0/payload"),
        (lambda: with_payload({"a": (1, 2)}), "NSP301 /cron/0/payload/a: "),
        (lambda: with_payload({"a": float("nan")}), "NSP301 /cron/0/payload/a: "),
        (lambda: with_payload({"a": 2**53}), "NSP301 /cron/0/payload/a: "),
        (lambda: with_payload({"a": "\ud800"}), "NSP301 /cron/0/payload/a: "),
        (lambda: with_payload(["x" * 65_533]), "NSP302 /cron/0/payload: "),
    ],
)
def test_is_one_clear_problem(call: Callable[[], Any], expected: str) -> None:
    problems = listed(call)
    assert len(problems) == 1
    assert problems[0].startswith(expected)


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep() -> Any:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    return value


def exploding() -> Any:
    value: Any = ["x"] * 10
    for _ in range(30):
        value = [value] * 10
    return value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (cyclic(), "NSP301"),
        ({"a": cyclic()}, "NSP301"),
        (exploding(), "NSP302"),
        ([0] * 1_000_000, "NSP302"),
        ({str(number): number for number in range(300_000)}, "NSP302"),
        ("x" * 50_000_000, "NSP302"),
    ],
    ids=["cycle", "cycle inside", "shared again and again", "a million numbers", "a wide mapping", "50 MB of text"],
)
def test_an_enormous_payload_is_one_problem_and_no_hang(value: Any, code: str) -> None:
    assert [problem.partition(" ")[0] for problem in listed(lambda: with_payload(value))] == [code]


def test_a_bottomless_payload_is_one_problem() -> None:
    problems = listed(lambda: with_payload(deep()))
    assert [problem.partition(" ")[0] for problem in problems] == ["NSP301"]


@pytest.mark.parametrize("schema", [cyclic(), {"a": cyclic()}, deep(), exploding()], ids=["cycle", "inside", "deep", "shared"])
def test_an_enormous_payload_schema_is_a_problem_and_no_hang(schema: Any) -> None:
    assert listed(lambda: define(jobs={"a": Job(expire, payload=schema)}))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda it: define(id=it), "NSP007 /id"),
        (lambda it: define(version=it), "NSP007 /version"),
        (lambda it: define(capabilities=[it]), "NSP007 /capabilities/0"),
        (lambda it: define(jobs={"a": Job(expire, max_attempts=it)}), "NSP007 /jobs/a/maxAttempts"),
        (lambda it: define(jobs={"a": Job(it)}), "NSP106 /jobs/a/handler"),
        (lambda it: define(jobs={"a": Job(expire)}, cron=[Cron(it, job="a")]), "NSP007 /cron/0/schedule"),
        (lambda it: with_payload(it), "NSP301 /cron/0/payload"),
        (lambda it: with_payload({"a": [it]}), "NSP301 /cron/0/payload/a/0"),
        (lambda it: with_payload({it: 1}), "NSP301 /cron/0/payload"),
        (lambda it: define(routes={"GET /": Route(it, auth="user")}), "NSP106 /routes/GET ~1/handler"),
        (lambda it: define_one({"key": it}, expire), "NSP007 /key"),
        (lambda it: define_one({"key": "a"}, it), "NSP106 /handler"),
        (lambda it: define_one({"key": "a", "schedule": {"cron": it}}, expire), "NSP007 /schedule/cron"),
        (lambda it: define(jobs={"a": Job(expire, payload=it)}), "NSP007 /jobs/a/payloadSchema"),
        (lambda it: define(jbos=it), "NSP006 /jbos"),
    ],
)
def test_no_code_of_an_argument_runs(call: Callable[[Any], Any], expected: str) -> None:
    problems = listed(lambda: call(untouchable()))
    assert problems[0].startswith(expected)
    assert len(problems) <= 2  # a misspelt parameter of the wrong type is two faults


def test_subclasses_of_json_types_count_as_what_they_hold() -> None:
    class Capability(StrEnum):
        KV = "storage.kv"

    class Attempts(IntEnum):
        MANY = 7

    plugin = define(
        Lying(id="a"),
        capabilities=[Capability.KV],
        jobs=OrderedDict(a=Lying(handler=expire, maxAttempts=Attempts.MANY, timeoutMs=Number(5))),
        cron=[Lying(schedule="0 3 * * *", job="a", payload=OrderedDict(b=Lying(c=1)))],
    )
    source = plugin.manifest_source
    assert source["jobs"] == {"a": {"maxAttempts": 7, "timeoutMs": 5}}
    assert source["cron"][0]["payload"] == {"b": {"c": 1}}
    assert source["capabilities"] == ["storage.kv"]
    found = [source["jobs"]["a"]["maxAttempts"], source["jobs"]["a"]["timeoutMs"], source["capabilities"][0]]
    assert [type(value) for value in found] == [int, int, str]


def test_a_number_that_lies_about_its_order_is_still_out_of_range() -> None:
    problems = listed(lambda: define(jobs={"a": Job(expire, timeout_ms=Number(600_001))}))
    assert [problem.partition(":")[0] for problem in problems] == ["NSP105 /jobs/a/timeoutMs"]


def test_a_list_that_is_changed_while_it_is_read_does_no_harm() -> None:
    class Growing(Mapping[str, Any]):
        def __init__(self, entries: list[Any]) -> None:
            self.entries = entries

        def __getitem__(self, key: str) -> Any:
            self.entries.append(self)
            return "0 3 * * *" if key == "schedule" else "a"

        def __iter__(self) -> Iterator[str]:
            return iter(("schedule", "job"))

        def __len__(self) -> int:
            return 2

    entries: list[Any] = []
    entries.append(Growing(entries))
    plugin = define(jobs={"a": Job(expire)}, cron=entries)
    assert plugin.manifest_source["cron"] == [{"schedule": "0 3 * * *", "job": "a"}]


def test_text_of_the_author_never_reaches_the_message_of_an_unreadable_mapping() -> None:
    assert "secret" not in " ".join(listed(lambda: define(jobs=Raising({"a": 1}))))


_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.characters(categories=["Cs"]),
        st.binary(max_size=3),
        st.builds(object),
        st.builds(Unprintable),
        st.just(expire),
        st.just(Job),
        st.builds(Job, st.just(expire)),
        st.builds(lambda: Cron("0 3 * * *", job="a")),
        st.builds(lambda: Route(expire, auth="user")),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=4), st.integers(), st.none()), inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["jobs", "cron", "id", "handler", "key", "schedule", "payload", "maxAttempts"]), inner, max_size=4
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(
    args=st.lists(_values, max_size=2),
    kwargs=st.dictionaries(
        st.sampled_from(["id", "jobs", "cron", "routes", "capabilities", "version", "jbos"]), _values, max_size=4
    ),
)
def test_define_plugin_returns_or_raises_its_own_error(args: list[Any], kwargs: dict[str, Any]) -> None:
    try:
        plugin = define(*args, **kwargs)
    except DefinitionError as error:
        assert error.problems
        assert str(error).startswith("define_plugin: ")
    else:
        assert hash(plugin) == hash(plugin)


@settings(max_examples=300, deadline=None)
@given(
    args=st.lists(_values, max_size=3),
    kwargs=st.dictionaries(
        st.sampled_from(["config", "handler", "key", "name", "timeout_ms", "schedule", "max_attempts", "kye"]),
        _values,
        max_size=4,
    ),
)
def test_define_job_returns_or_raises_its_own_error(args: list[Any], kwargs: dict[str, Any]) -> None:
    try:
        made = define_one(*args, **kwargs)
    except ValidationError as error:
        assert error.problems
        assert str(error).startswith("define_job: ")
    else:
        finished = bool(args) or "config" in kwargs or "handler" in kwargs
        assert isinstance(made, JobDefinition if finished else Decorator)
        assert not finished or made.key
