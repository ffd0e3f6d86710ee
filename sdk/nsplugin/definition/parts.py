"""What an author passes to a definer: ``Job``, ``Cron``, ``Route`` (NextSkin) and ``Schedule`` (Cogover)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from nsplugin.definition import signatures
from nsplugin.definition.arguments import Bound, Signature
from nsplugin.definition.call_site import CallSite, caller


class Part:
    """Arguments as they were given. What is wrong with them is reported by the definer that the part is passed to."""

    __slots__ = ("bound", "site")
    SIGNATURE: ClassVar[Signature]
    bound: Bound
    site: CallSite | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._set(self.SIGNATURE.bind(args, kwargs), caller())

    def _set(self, bound: Bound, site: CallSite | None) -> None:
        object.__setattr__(self, "bound", bound)
        object.__setattr__(self, "site", site)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed; make another one")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.bound, self.site)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.bound.given)})"


def _restored(kind: type[Part], bound: Bound, site: CallSite | None) -> Part:
    part = kind.__new__(kind)
    part._set(bound, site)
    return part


class Job(Part):
    """A job of a NextSkin plugin: work that is retried, delayed or started by the clock.

    ``handler``: a function, sync or async, called with those of ``payload``, ``attempt`` (from 1) and ``ctx`` that it names.
    ``max_attempts``: attempts in all, 1–20, default 5. ``timeout_ms``: milliseconds per attempt, 1–600000, default 60000.
    ``payload``: a pydantic model, dataclass or ``TypedDict`` that each payload is validated with before the call, or a JSON
    Schema as a mapping. Wrong arguments are reported by ``define_plugin``.
    """

    __slots__ = ()
    SIGNATURE = signatures.JOB
    if TYPE_CHECKING:

        def __init__(
            self,
            handler: Callable[..., Any],
            *,
            max_attempts: int = ...,
            timeout_ms: int = ...,
            payload: Any = ...,
        ) -> None: ...


class Cron(Part):
    """A schedule of a NextSkin plugin, in the site's time zone.

    ``schedule``: five cron fields (minute, hour, day of month, month, day of week). ``job``: the name of one of the plugin's
    jobs. ``payload``: JSON data for the job, ``{}`` when not given. Wrong arguments are reported by ``define_plugin``.
    """

    __slots__ = ()
    SIGNATURE = signatures.CRON
    if TYPE_CHECKING:

        def __init__(self, schedule: str, *, job: str, payload: Any = ...) -> None: ...


class Route(Part):
    """A route of a NextSkin plugin.

    ``handler``: a function, sync or async, called with those of ``request`` and ``ctx`` that it names; returns a
    :class:`~nsplugin.context.Response`. ``auth``: who may call, ``"user"``. Wrong arguments are reported by ``define_plugin``.
    """

    __slots__ = ()
    SIGNATURE = signatures.ROUTE
    if TYPE_CHECKING:

        def __init__(self, handler: Callable[..., Any], *, auth: str) -> None: ...


class Schedule(Part):
    """When a Cogover job runs by itself.

    ``cron``: five cron fields. ``timezone``: an IANA id or a fixed offset (``UTC+7``), default ``"UTC"``. Wrong arguments are
    reported by ``define_job``.
    """

    __slots__ = ()
    SIGNATURE = signatures.SCHEDULE
    if TYPE_CHECKING:

        def __init__(self, cron: str, *, timezone: str = ...) -> None: ...
