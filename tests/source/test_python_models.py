"""Payload models from source: the schema that pydantic itself would give, or none."""

from __future__ import annotations

import sys
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsplugin.payload_model import ModelError, PayloadModel
from nsplugin.pointers import UNKNOWN
from python_sources import codes, problems, raw, repository, text_at

IMPORTS = """\
from typing import *
from pydantic import *
from nsplugin import Job, define_plugin
"""


SDK = "from nsplugin import Job, define_plugin\n"


def _read(classes: str) -> Any:
    source = f"{IMPORTS}{classes}\ndef f(payload): ...\nplugin = define_plugin(jobs={{'a': Job(f, payload=M)}})"
    source = source.replace(
        "from typing import *",
        "import typing\nfrom typing import Annotated, Any, ClassVar, Dict, List, Literal, Optional, Union",
    )
    source = source.replace(
        "from pydantic import *", "from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator"
    )
    return raw(source)["jobs"]["a"]["payloadSchema"]


def _made(classes: str) -> Any:
    module = sys.modules["payload_models_read"] = ModuleType("payload_models_read")
    try:
        exec("import typing\nfrom typing import *\nfrom pydantic import *\n" + classes, module.__dict__)
        return PayloadModel(module.__dict__["M"]).schema
    finally:
        del sys.modules["payload_models_read"]


REFUSED = [
    "class M: pass",
    "class M:\n  a: int\n  def __init__(self, a): self.a = a",
    "class M(BaseModel):\n  a: Callable",
    "class M(BaseModel):\n  a: int\n  b: Callable[[int], str]\n  c: list[str]",
    "class M(BaseModel):\n  a: list[Callable[..., Any]]",
    "class M(BaseModel):\n  a: dict[str, typing.Callable]",
    "class N(BaseModel):\n  a: Callable\nclass M(BaseModel):\n  n: N",
    "class N(BaseModel):\n  a: Callable\nclass M(N):\n  n: int",
]


@pytest.mark.parametrize("classes", REFUSED)
def test_what_pydantic_refuses_is_refused_in_its_words(classes: str) -> None:
    source = f"import typing\nfrom typing import Any, Callable\nfrom pydantic import BaseModel\n{SDK}{classes}\n"
    source += "def f(payload): ...\nplugin = define_plugin(id='a', jobs={'a': Job(f, payload=M)})"
    (problem,) = problems(source)
    assert (problem.code, problem.pointer, text_at(source, problem.span)) == ("NSP303", "/jobs/a/payloadSchema", "M")
    with pytest.raises(ModelError) as raised:
        _made(classes)
    assert problem.message == str(raised.value)


NOT_REFUSED = [
    "class M:\n  @classmethod\n  def __get_pydantic_core_schema__(cls, source, handler): return handler(int)",
    "class B: pass\nclass M(B): pass",
    "@make\nclass M:\n  a: int",
    "class M(BaseModel):\n  a: Callable | None",
    "class M(BaseModel):\n  a: Callable\n  b: Other",
    "class M(metaclass=Meta): pass",
    "if typing:\n  class M: pass\nelse:\n  class M(BaseModel): pass",
]


@pytest.mark.parametrize("classes", NOT_REFUSED)
def test_what_pydantic_may_take_is_unknown(classes: str) -> None:
    source = f"import typing\nfrom typing import Any, Callable\nfrom pydantic import BaseModel\n{SDK}{classes}\n"
    source += "def f(payload): ...\nplugin = define_plugin(id='a', jobs={'a': Job(f, payload=M)})"
    assert problems(source) == []
    assert raw(source)["jobs"]["a"]["payloadSchema"] is UNKNOWN


KNOWN = [
    "class M(BaseModel):\n  pass",
    "class M(BaseModel):\n  key: str",
    "class M(BaseModel):\n  '''Says what.\n\n     In two lines.\n  '''\n"
    "  key: str = Field(min_length=1, max_length=5, pattern='^a')",
    "class M(BaseModel):\n  a_b_c: int = 5\n  camelCase: float\n  flag: bool = False\n  n2: Any",
    "class M(BaseModel):\n  a: Optional[int] = None\n  b: int | None\n  c: Union[int, str]\n  d: None | str | int = 'x'",
    "class M(BaseModel):\n  a: list[int]\n  b: List[str] = Field(default_factory=list)\n  c: list\n  d: list[list[Any]] = []",
    "class M(BaseModel):\n  a: dict[str, int]\n  b: dict[str, Any] = {}\n  c: dict\n  d: Dict[str, List[int]] = {'x': [1]}",
    "class M(BaseModel):\n  a: Literal['x']\n  b: Literal['x', 'y'] = 'x'\n  c: Literal[1, 2]\n  d: Literal['a', 1]\n"
    "  e: Literal[True]",
    "class M(BaseModel):\n  a: int = Field(ge=1, le=5)\n  b: float = Field(gt=0, lt=1.5)\n"
    "  c: int = Field(5, multiple_of=5)\n  d: int = Field(..., gt=1)",
    "class M(BaseModel):\n  a: list[int] = Field(min_length=1, max_length=3)\n  b: dict[str, int] = Field(min_length=1)",
    "class M(BaseModel):\n  a: Annotated[int, Field(ge=1)]\n  b: Annotated[str, Field(description='x')] = 'y'",
    "class M(BaseModel):\n  a: int = Field(title='T', description='D', strict=True)",
    "class M(BaseModel):\n  model_config = ConfigDict(extra='forbid', frozen=True)\n  a: int",
    "class M(BaseModel):\n  model_config = {'extra': 'allow'}\n  a: int",
    "class Sub(BaseModel):\n  '''Doc.'''\n  a: int\nclass M(BaseModel):\n  b: Sub\n  c: list[Sub]\n"
    "  d: Sub | None = None\n  e: dict[str, Sub]",
    "class Base(BaseModel):\n  a: int\n  b: str = 'x'\nclass M(Base):\n  '''D'''\n  c: float\n  b: str = 'y'",
    "class M(BaseModel):\n  a: str\n  @field_validator('a')\n  @classmethod\n  def check(cls, value): return value",
    "class M(BaseModel):\n  a: str\n  def upper(self): return self.a.upper()\n  @property\n  def b(self): return 1",
    "class Sub(BaseModel):\n  a: int\nclass M(BaseModel):\n  b: Union[Sub, int]\n  c: Optional[Sub]",
]
OPEN = [
    "class M(BaseModel):\n  a: datetime",
    "class M(BaseModel):\n  a: 'int'",
    "class M(BaseModel):\n  a: tuple[int, str]",
    "class M(BaseModel):\n  a: int = Field(alias='b')",
    "class M(BaseModel):\n  a: int = missing",
    "class M(BaseModel):\n  _a: int = 1\n  b: int",
    "class M(BaseModel):\n  a: ClassVar[int] = 1",
    "class M(BaseModel, extra='forbid'):\n  a: int",
    "class M(BaseModel):\n  model_config = ConfigDict(title='x')\n  a: int",
    "class M(BaseModel):\n  model_config = make()\n  a: int",
    "class M(Other):\n  a: int",
    "class M(BaseModel, Other):\n  a: int",
    "@decorate\nclass M(BaseModel):\n  a: int",
    "class M(BaseModel):\n  if x:\n    a: int",
    "class M(BaseModel):\n  m: 'M | None' = None",
    "class M(BaseModel):\n  a: int = Field(json_schema_extra={'x': 1})",
    "class M(BaseModel):\n  @classmethod\n  def __get_pydantic_json_schema__(cls, a, b): ...\n  a: int",
    "class Sub(BaseModel):\n  a: int\nclass M(BaseModel):\n  b: Sub = Field(description='x')",
    "M = make()",
    "class M(BaseModel):\n  str: int\n  b: str",
    "M = TypeAdapter(int)",
]


@pytest.mark.parametrize("classes", KNOWN)
def test_the_schema_is_pydantics_own(classes: str) -> None:
    assert _read(classes) == _made(classes)


@pytest.mark.parametrize("classes", OPEN)
def test_a_model_that_decides_its_schema_otherwise_is_unknown(classes: str) -> None:
    assert _read(classes) is UNKNOWN


TYPES = st.recursive(
    st.sampled_from(["int", "str", "float", "bool", "Any", "list", "dict", "Sub", "Literal['a']", "Literal[1, 2]", "None"]),
    lambda inner: st.one_of(
        inner.map(lambda each: f"list[{each}]"),
        inner.map(lambda each: f"dict[str, {each}]"),
        inner.map(lambda each: f"Optional[{each}]"),
        st.tuples(inner, inner).map(lambda pair: f"Union[{pair[0]}, {pair[1]}]"),
    ),
    max_leaves=4,
)
DEFAULTS = st.sampled_from(
    ["", " = None", " = 1", " = 'x'", " = Field()", " = Field(None)", " = Field(description='d')", " = []"]
)


def test_any_model_of_plain_fields_has_pydantics_schema_or_none() -> None:
    known: list[bool] = []

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.tuples(TYPES, DEFAULTS), min_size=1, max_size=4))
    def read_as_made(fields: list[tuple[str, str]]) -> None:
        body = "\n".join(f"  field_{index}: {kind}{default}" for index, (kind, default) in enumerate(fields))
        classes = f"class Sub(BaseModel):\n  n: int\nclass M(BaseModel):\n{body}"
        found = _read(classes)
        known.append(found is not UNKNOWN)
        assert found is UNKNOWN or _sorted(found) == _sorted(_made(classes))

    read_as_made()
    assert sum(known) > len(known) / 3, "a reader that knows nothing would be right as well"


def _sorted(schema: Any) -> Any:
    """A schema without the order of unions: the typing module keeps that of the first equal union it ever saw."""
    if isinstance(schema, dict):
        return {key: _sorted(value) for key, value in schema.items()}
    if isinstance(schema, list):
        return sorted((_sorted(item) for item in schema), key=repr)
    return schema


def chain(length: int) -> str:
    """Models of which each is the base of the next, ``M`` the last."""
    names = ["BaseModel", *(f"M{number}" for number in range(1, length)), "M"]
    return "\n".join(f"class {name}({base}):\n  a: int" for base, name in pairwise(names))


ENDLESS = {
    "its own base": "class M(M):\n  a: int",
    "its base's base": "class M(N):\n  a: int\nclass N(M):\n  b: int",
    "of three": "class M(N):\n  a: int\nclass N(O): ...\nclass O(M):\n  b: int",
    "a field's model": "class N(N):\n  a: int\nclass M(BaseModel):\n  n: N",
    "3,000 bases": chain(3_000),
    "51 bases": chain(51),
}


@pytest.mark.parametrize("classes", [pytest.param(classes, id=name) for name, classes in ENDLESS.items()])
def test_bases_without_end_or_too_many_of_them_make_the_model_unknown(classes: str) -> None:
    assert _read(classes) is UNKNOWN


def test_a_chain_of_bases_is_followed() -> None:
    assert _read(chain(50)) == _made(chain(50))


def test_a_payload_is_held_against_the_model() -> None:
    source = """
from pydantic import BaseModel
from nsplugin import Cron, Job, define_plugin
class Expire(BaseModel):
    key: str
def expire(payload: Expire): ...
plugin = define_plugin(jobs={"a": Job(expire, payload=Expire)}, cron=[Cron("0 3 * * *", job="a", payload={"key": 5})])
"""
    assert codes(source) == ["NSP303"]
    assert codes(source.replace("5", "'x'")) == []
    assert codes(source.replace("key: str", "key: Unheard")) == []


def test_a_model_of_another_module_is_read_there() -> None:
    files = {"models.py": "from pydantic import BaseModel\nclass Expire(BaseModel):\n  key: str\n"}
    source = (
        "from nsplugin import *\nfrom models import Expire\ndef f(payload): ...\n"
        "plugin = define_plugin(jobs={'a': Job(f, payload=Expire)})"
    )
    assert raw(source, repository(files))["jobs"]["a"]["payloadSchema"]["required"] == ["key"]
    assert raw(source)["jobs"]["a"]["payloadSchema"] is UNKNOWN


def test_a_schema_written_out_is_taken_as_it_is() -> None:
    source = (
        "from nsplugin import *\ndef f(payload): ...\nplugin = define_plugin(jobs={'a': Job(f, payload={'type': 'object'})})"
    )
    assert raw(source)["jobs"]["a"]["payloadSchema"] == {"type": "object"}
