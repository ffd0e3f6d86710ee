"""What is said of a payload that does not fit: its fields, none of its data (spec/nextskin.md A5: administrators read it)."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from nsplugin.payload_model import PayloadMismatch, PayloadModel


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = ""


class Nested(BaseModel):
    by_mail: dict[str, Cat]


class Either(BaseModel):
    it: Cat | Dog


class Judged(BaseModel):
    age: int

    @field_validator("age")
    @classmethod
    def _judge(cls, age: int) -> int:
        if age < 18:
            raise ValueError("too young")
        return age


PREFIX = "the payload does not fit the job's model: "


@pytest.mark.parametrize(
    ("model", "payload", "message"),
    [
        (
            Annotated[Cat | Dog, Field(discriminator="kind")],
            {"kind": "SECRET"},
            "payload: kind should be one of 'cat', 'dog'",
        ),
        (dict[str, int], {"SECRET": "SECRET"}, "*: Input should be a valid integer, unable to parse string as an integer"),
        (dict[str, int], {"0": "SECRET"}, "*: Input should be a valid integer, unable to parse string as an integer"),
        (Nested, {"by_mail": {"SECRET": {"kind": "cat", "lives": []}}}, "by_mail.*.lives: Input should be a valid integer"),
        (Nested, {"by_mail": {"SECRET": {}}}, "by_mail.*.kind: Field required"),
        (Annotated[dict[UUID, int], Field()], {"SECRET": 1}, "*.[key]: Input should be a valid UUID"),
        (UUID, "SECRET", "payload: Input should be a valid UUID"),
        (Closed, {"nmae": "x"}, "nmae: Extra inputs are not permitted"),
        (list[Cat], [{"kind": "SECRET"}], "0.kind: Input should be 'cat'"),
        (tuple[int, int], [1], "1: Field required"),
        (list[dict[str, int]], [{"SECRET": []}], "0.*: Input should be a valid integer"),
        (Judged, {"age": 5}, "age: Value error, too young"),
    ],
)
def test_a_mismatch_tells_none_of_the_data(model: Any, payload: Any, message: str) -> None:
    with pytest.raises(PayloadMismatch) as caught:
        PayloadModel(model).validated(payload)
    assert str(caught.value) == PREFIX + message


def test_branches_of_a_union_go_by_their_names() -> None:
    with pytest.raises(PayloadMismatch) as caught:
        PayloadModel(Either).validated({"it": {"kind": "SECRET"}})
    assert str(caught.value) == f"{PREFIX}it.Cat.kind: Input should be 'cat'; it.Dog.kind: Input should be 'dog'"
