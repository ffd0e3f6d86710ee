"""The JSON Schema of a pydantic model from its source, exactly as pydantic would make it, why there is none, or ``UNKNOWN``."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from nsplugin.pointers import UNKNOWN
from nsplugin.record import field, record
from nsplugin_cli.source.python_module import Module
from nsplugin_cli.source.python_scopes import Scope
from nsplugin_cli.source.python_values import Class, Entries, External, Items, Keyword, Value

if TYPE_CHECKING:
    from nsplugin_cli.source.python_evaluate import Evaluator

_TYPES: Final[dict[str, dict[str, Any]]] = {
    "builtins.str": {"type": "string"},
    "builtins.int": {"type": "integer"},
    "builtins.float": {"type": "number"},
    "builtins.bool": {"type": "boolean"},
    "builtins.list": {"items": {}, "type": "array"},
    "builtins.dict": {"additionalProperties": True, "type": "object"},
    "typing.Any": {},
}
_NUMBER: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LIMITS: Final[dict[str, dict[str, str]]] = {
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "integer": _NUMBER,
    "number": _NUMBER,
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}
_DEFAULTS: Final = frozenset(("default", "default_factory"))
_WORDS: Final = frozenset(("title", "description"))
_HARMLESS: Final = frozenset(("default_factory", "strict", "frozen", "repr", "kw_only", "init"))
_CONFIG: Final = frozenset(("frozen", "strict", "str_strip_whitespace", "validate_assignment"))
_EXTRA: Final[dict[str, dict[str, Any]]] = {
    "ignore": {},
    "forbid": {"additionalProperties": False},
    "allow": {"additionalProperties": True},
}
_NULL: Final = {"type": "null"}
_KINDS: Final[dict[type, str]] = {str: "string", int: "integer", bool: "boolean"}
_CALLABLES: Final = ("typing.Callable", "collections.abc.Callable")
_OWN_SCHEMA: Final = "__get_pydantic_core_schema__"
_MAX_MODELS: Final = 20
_MAX_LINEAGE: Final = 50


@record(kw_only=False)
class NoSchema:
    """Pydantic can make no schema of it; ``reason`` is what it says."""

    reason: str


class _NotKnown(Exception):
    """Some part of the model decides its schema in a way that is not followed here."""


@record(kw_only=False)
class _Field:
    schema: dict[str, Any]
    required: bool


@record(kw_only=False, frozen=False)
class _Model:
    fields: dict[str, _Field] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


class _Body:
    """The body of one model class: reads its expressions in its scope."""

    def __init__(self, model: Class, models: _Models) -> None:
        self.models = models
        self.module: Module = model.module
        self.scope: Scope = model.module.scope(model.node)
        self.evaluator: Evaluator = models.evaluator

    def value(self, node: ast.expr) -> Value:
        return self.evaluator.value(node, self.module, self.scope)

    def name(self, node: ast.expr) -> str:
        """The dotted name of something from outside the repository, else an empty string."""
        data = self.value(node).data
        return data.name if isinstance(data, External) else ""

    def call(self, node: ast.expr | None, of: str) -> list[Keyword] | None:
        """The arguments of a call of the function of that name, a positional one as ``default``; ``None`` for all else."""
        if not isinstance(node, ast.Call) or self.name(node) != of + "()":
            return None
        arguments, unsure = self.evaluator.sequence(node.args, self.module, self.scope)
        keywords = self.evaluator.keywords(node.keywords, self.module, self.scope)
        if unsure or len(arguments) > 1 or any(keyword.name is None for keyword in keywords):
            raise _NotKnown
        defaults = [value for value in arguments if not _is_ellipsis(value.node)]
        return [*(Keyword("default", value, node) for value in defaults), *keywords]


class _Models:
    """Models met on the way: the ``$defs`` by name, and those that are being read."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.definitions: dict[str, tuple[ast.ClassDef, dict[str, Any]]] = {}
        self.open: list[ast.ClassDef] = []
        self.refusal: NoSchema | None = None

    def schema(self, model: Class) -> dict[str, Any]:
        """The schema of one model, without its ``$defs``."""
        if model.node in self.open or len(self.open) > _MAX_MODELS:
            raise _NotKnown
        self.open.append(model.node)
        found = self._read(model)
        self.open.pop()
        required = [name for name, each in found.fields.items() if each.required]
        description = ast.get_docstring(model.node, clean=False)
        return {
            **({} if description is None else {"description": _cleaned(description)}),
            **found.extra,
            "properties": {name: each.schema for name, each in found.fields.items()},
            **({"required": required} if required else {}),
            "title": model.node.name,
            "type": "object",
        }

    def reference(self, model: Class) -> dict[str, Any]:
        """A reference to a model that another one holds."""
        name = model.node.name
        known = self.definitions.get(name)
        if known is None:
            self.definitions[name] = (model.node, self.schema(model))
        elif known[0] is not model.node:
            raise _NotKnown
        return {"$ref": f"#/$defs/{name}"}

    def _read(self, model: Class) -> _Model:
        found = _Model()
        for each in reversed(self._lineage(model)):
            body = _Body(each, self)
            for statement in each.node.body:
                _take(statement, found, body)
        return found

    def _lineage(self, model: Class) -> list[Class]:
        """The model, its base, the base of that, up to pydantic's own; one that is its own base ends at the bound."""
        found = [model]
        while len(found) <= _MAX_LINEAGE:
            node, module = found[-1].node, found[-1].module
            if node.decorator_list or node.keywords or len(node.bases) != 1:
                break
            base = self.evaluator.value(node.bases[0], module, module.root).data
            if base == External("pydantic.BaseModel"):
                return found
            if not isinstance(base, Class):
                break
            found.append(base)
        raise _NotKnown


def _cleaned(docstring: str) -> str:
    """As ``inspect.cleandoc`` does, which pydantic asks. To load inspect takes longer than all else."""
    if "\n" not in docstring:
        return docstring.expandtabs().lstrip()
    from inspect import cleandoc

    return cleandoc(docstring)


def schema_of(model: Class, evaluator: Evaluator) -> Any:
    """A pydantic model's schema (draft 2020-12), as ``model_json_schema()`` gives it; :class:`NoSchema`; else ``UNKNOWN``."""
    if _is_plain(model):
        return NoSchema(f"Unable to generate pydantic-core schema for class {model.node.name}")
    models = _Models(evaluator)
    try:
        schema = models.schema(model)
    except _NotKnown:
        return UNKNOWN
    if models.refusal is not None:
        return models.refusal
    definitions = {name: found for name, (_, found) in sorted(models.definitions.items())}
    return {"$defs": definitions, **schema} if definitions else schema


def _is_plain(model: Class) -> bool:
    """Whether a class has no base, no decorator and no part of its own in how pydantic sees it."""
    node = model.node
    return not (node.bases or node.decorator_list or node.keywords) and _OWN_SCHEMA not in model.module.scope(node).stores


def _take(statement: ast.stmt, found: _Model, body: _Body) -> None:
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_") and name != "model_config":
            if len(body.scope.stores.get(name, ())) != 1:
                raise _NotKnown
            found.fields[name] = _field(name, statement, body)
        case ast.Assign(targets=[ast.Name(id="model_config")], value=value):
            found.extra = _extra(value, body)
        case ast.FunctionDef() | ast.AsyncFunctionDef() if _leaves_schema_alone(statement):
            pass
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            pass
        case _:
            raise _NotKnown


def _leaves_schema_alone(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    calls = [decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call)]
    own_input = any(keyword.arg in (None, "json_schema_input_type") for call in calls for keyword in call.keywords)
    return not own_input and not node.name.startswith("__get_pydantic")


def _extra(node: ast.expr, body: _Body) -> dict[str, Any]:
    data = body.value(node).data
    if isinstance(data, Entries):
        options = {key.data: item.data for key, item in data.pairs}
    else:
        options = {item.name: item.value.data for item in body.call(node, "pydantic.ConfigDict") or [_unreadable(body)]}
    extra = options.pop("extra", "ignore")
    if extra not in _EXTRA or not options.keys() <= _CONFIG:
        raise _NotKnown
    return _EXTRA[extra]


def _unreadable(body: _Body) -> Keyword:
    return Keyword("", Value(UNKNOWN, body.scope.node, body.module), body.scope.node)


def _field(name: str, node: ast.AnnAssign, body: _Body) -> _Field:
    annotation, options = _annotated(node.annotation, body)
    if node.value is not None:
        given = body.call(node.value, "pydantic.Field")
        options += [Keyword("default", body.value(node.value), node)] if given is None else given
    schema = _type(annotation, body)
    for option in options:
        _apply(option, schema)
    if _is_reference(schema):
        if schema.keys() & _WORDS:
            raise _NotKnown
    else:
        schema.setdefault("title", name.title().replace("_", " ").strip())
    return _Field(schema, required=not any(option.name in _DEFAULTS for option in options))


def _annotated(annotation: ast.expr, body: _Body) -> tuple[ast.expr, list[Keyword]]:
    """The type of ``Annotated[type, Field(…)]``, and what the field says."""
    if not isinstance(annotation, ast.Subscript) or body.name(annotation.value) != "typing.Annotated":
        return annotation, []
    if not isinstance(annotation.slice, ast.Tuple):
        raise _NotKnown
    inner, *metadata = annotation.slice.elts
    found: list[Keyword] = []
    for item in metadata:
        given = body.call(item, "pydantic.Field")
        if given is None or any(option.name in _DEFAULTS for option in given):
            raise _NotKnown
        found.extend(given)
    return inner, found


def _apply(option: Keyword, schema: dict[str, Any]) -> None:
    value = option.value.data
    limit = _LIMITS.get(schema.get("type", ""), {}).get(option.name or "")
    if option.name == "default":
        schema["default"] = _json(option.value)
    elif option.name in _WORDS and isinstance(value, str):
        schema[option.name] = value
    elif limit is not None and isinstance(value, (str, int, float)):
        schema[limit] = value
    elif option.name not in _HARMLESS:
        raise _NotKnown


def _json(value: Value) -> Any:
    data = value.data
    if data is None or isinstance(data, (str, bool, int, float)):
        return data
    if isinstance(data, Items) and data.kind is list and not data.open:
        return [_json(item) for item in data.items]
    if isinstance(data, Entries) and all(isinstance(key.data, str) for key, _ in data.pairs):
        return {key.data: _json(item) for key, item in data.pairs}
    raise _NotKnown


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _is_reference(schema: dict[str, Any]) -> bool:
    """Whether pydantic gives the field no title of its own: a model, or one or null."""
    options = [option for option in schema.get("anyOf", ()) if option != _NULL]
    return "$ref" in (options[0] if len(options) == 1 else schema)


def _type(node: ast.expr, body: _Body) -> dict[str, Any]:
    if isinstance(node, ast.Constant) and node.value is None:
        return dict(_NULL)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right], body)
    if isinstance(node, ast.Subscript):
        return _generic(node, body)
    data = body.value(node).data
    if isinstance(data, Class):
        return body.models.reference(data)
    if isinstance(data, External) and data.name in _TYPES:
        return dict(_TYPES[data.name])
    if isinstance(data, External) and data.name in _CALLABLES:
        return _callable(body)
    raise _NotKnown


def _callable(body: _Body) -> dict[str, Any]:
    body.models.refusal = NoSchema("Cannot generate a JsonSchema for core_schema.CallableSchema")
    return {}


def _generic(node: ast.Subscript, body: _Body) -> dict[str, Any]:
    if body.name(node.value) in _CALLABLES:
        return _callable(body)
    name = body.name(node.value).removeprefix("builtins.").removeprefix("typing.").lower()
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "list" and len(arguments) == 1:
        return {"items": _type(arguments[0], body), "type": "array"}
    if name == "dict" and len(arguments) == 2 and body.name(arguments[0]) == "builtins.str":
        return {"additionalProperties": _type(arguments[1], body) or True, "type": "object"}
    if name in ("optional", "union"):
        return _union([*arguments, *([ast.Constant(None)] if name == "optional" else [])], body)
    if name == "literal":
        return _literal([body.value(argument).data for argument in arguments])
    raise _NotKnown


def _union(nodes: Iterable[ast.expr], body: _Body) -> dict[str, Any]:
    options: list[dict[str, Any]] = []
    for node in nodes:
        option = _type(node, body)
        options += [each for each in option.get("anyOf", [option]) if each not in options]
    if len(options) < 2 or {} in options:
        raise _NotKnown
    nulls = [option for option in options if option == _NULL]
    return {"anyOf": [*(option for option in options if option != _NULL), *nulls]}


def _literal(values: list[Any]) -> dict[str, Any]:
    if not values or not all(type(value) in _KINDS for value in values):
        raise _NotKnown
    kinds = {type(value) for value in values}
    kind = {"type": _KINDS[kinds.pop()]} if len(kinds) == 1 else {}
    return {"const": values[0], **kind} if len(values) == 1 else {"enum": list(values), **kind}
