"""Payload models: their schemas in the manifest, and payloads validated by them (spec/manifest.md M5, spec/sdk.md)."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import typing
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from nsplugin import Cron, DefinitionError, Job, Plugin, define_plugin
from nsplugin.payload_model import ModelError, PayloadMismatch, PayloadModel


class Expire(BaseModel):
    key: str = Field(min_length=1)


class Node(BaseModel):
    name: str
    children: list[Node] = []


@dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    mode: Literal["soft", "hard"]


def handler(payload: Any) -> None: ...


def plugin_with(payload: Any, *crons: Any) -> Plugin:
    return define_plugin(
        jobs={"a": Job(handler, payload=payload)}, cron=[Cron("0 3 * * *", job="a", payload=item) for item in crons]
    )


def schema_of(payload: Any) -> Any:
    return plugin_with(payload).manifest_source["jobs"]["a"]["payloadSchema"]


def test_a_pydantic_model_becomes_its_json_schema() -> None:
    assert schema_of(Expire) == {
        "title": "Expire",
        "type": "object",
        "properties": {"key": {"title": "Key", "type": "string", "minLength": 1}},
        "required": ["key"],
    }


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (Point, "object"),
        (Options, "object"),
        (list[int], "array"),
        (int, "integer"),
        (Annotated[str, Field(min_length=1)], "string"),
    ],
)
def test_other_types_become_schemas_too(model: Any, kind: str) -> None:
    assert schema_of(model)["type"] == kind


def test_references_stay_inside_the_schema() -> None:
    schema = schema_of(Node)
    assert schema["$ref"] == "#/$defs/Node"
    assert schema["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_a_json_schema_is_taken_as_it_is() -> None:
    assert schema_of({"type": "object"}) == {"type": "object"}
    by_mapping = define_plugin({"jobs": {"a": {"handler": handler, "payloadSchema": Expire}}})
    assert by_mapping.manifest_source["jobs"]["a"]["payloadSchema"] == schema_of(Expire)


def test_a_cron_payload_is_held_against_the_model() -> None:
    assert plugin_with(Expire, {"key": "a"})
    with pytest.raises(DefinitionError) as caught:
        plugin_with(Expire, {"key": ""}, {})
    assert [(problem.code, problem.pointer) for problem in caught.value.problems] == [
        ("NSP303", "/cron/0/payload/key"),
        ("NSP303", "/cron/1/payload"),
    ]


class Broken(BaseModel, arbitrary_types_allowed=True):
    thing: object
    other: Any = None

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        raise RuntimeError("no schema today")


class Strange: ...


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Strange, "no JSON Schema can be made of class Strange: "),
        (Broken, "no JSON Schema can be made of class Broken: no schema today"),
        (list["Nowhere"], "no JSON Schema can be made of an instance of GenericAlias: "),  # noqa: F821
    ],
)
def test_a_model_without_a_schema_is_a_problem_and_no_traceback(model: Any, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        plugin_with(model, {"key": 1})
    (problem,) = caught.value.problems
    assert (problem.code, problem.pointer, problem.message.startswith(message)) == ("NSP303", "/jobs/a/payloadSchema", True)
    assert problem.message.isprintable()


@pytest.mark.parametrize("payload", [5, "text", None, Expire(key="a"), handler])
def test_what_is_neither_a_model_nor_a_schema_is_of_the_wrong_type(payload: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        plugin_with(payload)
    assert [(problem.code, problem.pointer) for problem in caught.value.problems] == [("NSP007", "/jobs/a/payloadSchema")]


def test_a_payload_becomes_the_models_own_type() -> None:
    assert PayloadModel(Expire).validated({"key": "a"}) == Expire(key="a")
    assert PayloadModel(Point).validated({"x": 1}) == Point(1, 0)
    assert PayloadModel(date).validated("2026-03-08") == date(2026, 3, 8)
    assert PayloadModel(tuple[int, int]).validated([1, 2]) == (1, 2)


def test_a_mismatch_names_the_fields_and_no_values() -> None:
    with pytest.raises(PayloadMismatch) as caught:
        PayloadModel(Node).validated({"children": [{"name": 5}, {"name": "a", "children": "secret"}]})
    assert str(caught.value) == (
        "the payload does not fit the job's model: name: Field required; children.0.name: Input should be a valid string;"
        " children.1.children: Input should be a valid array"
    )
    with pytest.raises(PayloadMismatch, match=r"^the payload does not fit the job's model: payload: "):
        PayloadModel(int).validated("secret")


def test_many_mismatches_are_counted() -> None:
    with pytest.raises(PayloadMismatch, match=r"; and 95 more$"):
        PayloadModel(list[int]).validated(["secret"] * 100)


def test_plugins_with_models_survive_pickle() -> None:
    again = pickle.loads(pickle.dumps(plugin_with(Expire)))
    assert again == plugin_with(Expire)
    assert again.models["/jobs/a"].validated({"key": "a"}) == Expire(key="a")


def test_the_schema_is_the_same_under_any_hash_seed() -> None:
    code = f"import sys; sys.path.insert(0, {sys.path[0]!r}); {SCRIPT}"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": str(seed)},
            timeout=60,
        ).stdout
        for seed in range(3)
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["$defs"]


SCRIPT = """
import json
from pydantic import BaseModel
from nsplugin import Job, define_plugin
class A(BaseModel):
    b: "B"
    options: dict[str, int] = {"x": 1, "a": 2}
class B(BaseModel):
    kind: set[int] = set()
A.model_rebuild()
plugin = define_plugin(jobs={"a": Job(lambda payload: None, payload=A)})
print(json.dumps(plugin.manifest_source["jobs"]["a"]["payloadSchema"]))
"""


def test_pydantic_is_imported_only_for_a_model() -> None:
    code = """
import sys
from nsplugin import Cron, Job, define_plugin
define_plugin(jobs={"a": Job(lambda payload: None, payload={"type": "object"})}, cron=[Cron("0 3 * * *", job="a", payload={})])
assert "pydantic" not in sys.modules
class Model: key: str
try:
    define_plugin(jobs={"a": Job(lambda payload: None, payload=Model)})
except Exception:
    assert "pydantic" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_typed_dict_of_typing_is_taken_or_the_other_one_is_named() -> None:
    """pydantic takes the one in typing from Python 3.12 on (docs/authoring.md)."""

    class Keyed(typing.TypedDict):
        key: str

    if sys.version_info >= (3, 12):
        assert PayloadModel(Keyed).schema["required"] == ["key"]
        return
    with pytest.raises(ModelError, match=r"before Python 3\.12, write `from typing_extensions import TypedDict`"):
        PayloadModel(Keyed)


def test_a_model_as_a_payload_is_told_how_to_become_data() -> None:
    """spec/nextskin.md C10: a payload is JSON; the hint says how the model becomes it."""

    class Key(BaseModel):
        key: str

    with pytest.raises(DefinitionError) as raised:
        define_plugin(id="cache", jobs={"a": Job(print_nothing)}, cron=[Cron("1 3 * * *", job="a", payload=Key(key="x"))])
    assert [problem.hint for problem in raised.value.problems] == ['write value.model_dump(mode="json")']


def print_nothing(payload: Any) -> None: ...


def test_an_instance_in_place_of_the_model_is_told_so() -> None:
    """spec/sdk.md: a model is a class."""

    class Key(BaseModel):
        key: str

    with pytest.raises(DefinitionError) as raised:
        define_plugin(id="cache", jobs={"a": Job(print_nothing, payload=Key(key="x"))})
    assert [(problem.code, problem.hint) for problem in raised.value.problems] == [
        ("NSP007", "give the class itself: payload=Key")
    ]
