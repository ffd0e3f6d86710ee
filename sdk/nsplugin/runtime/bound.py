"""A handler made ready: which of the context's fields it is called with, and whether on a loop or in a thread."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from nsplugin.handler_objects import describe
from nsplugin.handlers import Parameter, type_attribute
from nsplugin.payload_model import PayloadModel
from nsplugin.platforms import HandlerParameters
from nsplugin.record import record
from nsplugin.runtime.context import Context
from nsplugin.runtime.invocation import Run


@record
class BoundHandler:
    """``names`` are the fields handed over by name, or ``whole`` the one parameter that takes the whole context."""

    function: Callable[..., Any]
    offered: tuple[str, ...]
    names: tuple[str, ...]
    whole: Parameter | None
    asynchronous: bool
    model: PayloadModel | None = None

    def call(self, run: Run) -> Any:
        """Call the handler; what it returns may be awaitable. Raises what it raises, and ``PayloadMismatch`` before."""
        if self.model is not None:
            run.payload = self.model.validated(run.payload)
        context = Context(run, self.offered)
        if self.whole is not None and self.whole.positional_only:
            return self.function(context)
        if self.whole is not None:
            return self.function(**{self.whole.name: context})
        return self.function(**{name: getattr(context, name) for name in self.names})

    async def run(self, run: Run) -> Any:
        """Call an asynchronous handler to its end."""
        result = self.call(run)
        return await result if isinstance(result, Awaitable) else result


def bind_job(function: Callable[..., Any], parameters: HandlerParameters, model: PayloadModel | None = None) -> BoundHandler:
    """Make a job's handler ready. ``parameters`` are the platform's (spec/nextskin.md D7, spec/cogover.md H1)."""
    return _bind(function, parameters.job, parameters.whole, model)


def bind_route(function: Callable[..., Any], parameters: HandlerParameters) -> BoundHandler:
    """Make a route's handler ready (spec/nextskin.md D2)."""
    return _bind(function, parameters.route, parameters.whole, None)


def _bind(function: Callable[..., Any], offered: tuple[str, ...], whole: str, model: PayloadModel | None) -> BoundHandler:
    known = describe(function)
    return BoundHandler(
        function=function,
        offered=offered,
        names=known.chosen(offered),
        whole=next(iter(known.parameters or ())) if known.only_parameter == whole else None,
        asynchronous=_is_asynchronous(function),
        model=model,
    )


def _is_asynchronous(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    called = type_attribute(function, "__call__")
    called = called.__func__ if isinstance(called, staticmethod) else called
    return any(map(inspect.iscoroutinefunction, (function, inspect.unwrap(function), called)))
