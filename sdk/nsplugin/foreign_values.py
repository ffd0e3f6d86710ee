"""Python values that JSON has no form for: what each is, and what to write instead. None of their code is run to tell."""

from __future__ import annotations

from typing import Any, Final

from nsplugin.detach import StandIn
from nsplugin.handlers import class_name, type_name
from nsplugin.payload import Fault

_INSTEAD: Final[dict[str, tuple[str, str | None, str]]] = {
    "Enum": ("an Enum member", "it would become its value at most", "write value.value"),
    "BaseModel": ("a model", None, 'write value.model_dump(mode="json")'),
    "datetime": ("a datetime", None, "write value.isoformat()"),
    "date": ("a date", None, "write value.isoformat()"),
    "time": ("a time", None, "write value.isoformat()"),
    "timedelta": ("a timedelta", None, "write value.total_seconds()"),
    "Decimal": ("a Decimal", "its exact digits would be lost", "write str(value)"),
    "Fraction": ("a Fraction", None, "write str(value)"),
    "complex": ("a complex number", None, "write [value.real, value.imag]"),
    "UUID": ("a UUID", None, "write str(value)"),
    "PurePath": ("a path", None, "write str(value)"),
    "bytes": ("bytes", None, "write text: value.decode(), or base64.b64encode(value).decode()"),
    "bytearray": ("bytes", None, "write text: value.decode(), or base64.b64encode(value).decode()"),
    "memoryview": ("bytes", None, "write text: bytes(value).decode()"),
    "set": ("a set", None, "write a list: sorted(value)"),
    "frozenset": ("a set", None, "write a list: sorted(value)"),
    "deque": ("a deque", None, "write list(value)"),
    "range": ("a range", None, "write list(value)"),
    "generator": ("a generator", None, "write list(value)"),
    "ndarray": ("an array", None, "write value.tolist()"),
    "generic": ("a NumPy number", None, "write value.item()"),
    "BaseException": ("an exception", None, "write str(value)"),
    "function": ("a function", None, "write the value that it returns"),
    "builtin_function_or_method": ("a function", None, "write the value that it returns"),
    "method": ("a method", None, "write the value that it returns"),
    "coroutine": ("a coroutine", None, "await it, and write its result"),
    "type": ("a class", None, "write a value"),
    "module": ("a module", None, "write a value"),
    "mappingproxy": ("a read-only mapping", None, "write dict(value)"),
    "Mapping": ("a mapping of its own class", None, "write dict(value)"),
}
"""By the name of a class among the value's own and base classes: what the value is, what JSON would make of it, what to write
instead. The first that fits counts."""

_PLAIN: Final = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "dict": "a mapping",
    "list": "a list",
    "tuple": "a list",
}
"""Types whose subclasses JSON writes as the type itself, so that the class is lost."""


_AS: Final = {"tuple": "list"}


def instead(value: Any) -> Fault:
    """The fault of a value whose exact type is none of JSON's."""
    kind = type(value)
    if kind is tuple:
        return Fault("a tuple is not JSON: it would become a list", "write a list: [1, 2]")
    classes = type.__dict__["__mro__"].__get__(kind)
    names = [class_name(each) for each in classes]
    if issubclass(kind, StandIn):
        names += kind.bases
    for name, (what, loss, hint) in _INSTEAD.items():
        if name in names:
            return Fault(f"{what} is not JSON: {loss}" if loss else f"JSON has no form for {what}", hint)
    if "__dataclass_fields__" in kind.__dict__:
        return Fault(f"JSON has no form for a dataclass ({names[0]})", "write dataclasses.asdict(value)")
    base = next((name for name in names if name in _PLAIN), None)
    if base is None:
        return _unknown(value)
    named = base == "tuple" and any("_asdict" in type.__dict__["__dict__"].__get__(each) for each in classes)
    return _subclass(names[0], base, "write value._asdict()" if named else f"write {_AS.get(base, base)}(value)")


def _subclass(name: str, base: str, hint: str) -> Fault:
    return Fault(f"{_an(name)} is not JSON: it would become {_PLAIN[base]} and lose its class", hint)


def _unknown(value: Any) -> Fault:
    return Fault(f"JSON has no form for an instance of {type_name(value)}", "write its data: strings, numbers, lists, mappings")


def _an(name: str) -> str:
    return f"an {name}" if name[:1] in "AEIOUaeiou" else f"a {name}"
