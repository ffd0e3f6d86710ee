"""What a rule is, what it finds, and the family that runs rules over one subject."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from nsplugin.pointers import split
from nsplugin.record import record, replace
from nsplugin.spans import Span, SpanMap, Target

if TYPE_CHECKING:
    from nsplugin.rules.subject import Subject

Severity = Literal["error", "warning"]
SubjectT = TypeVar("SubjectT", bound="Subject")


@record
class Found:
    """One fault as a rule sees it: a place in the raw manifest and what to say about it.

    ``start`` and ``end`` (characters, end exclusive) narrow a string value; ``target`` "key" points at the mapping key.
    """

    pointer: str
    message: str
    hint: str | None = None
    target: Target = "value"
    start: int | None = None
    end: int | None = None
    fix: str | None = None
    """What to put in the place's stead, where that is safe: the text of a key or string, or of its ``start:end``."""
    span: Span | None = None
    """Set by rules over source facts, which know their place without a pointer."""
    path: str | None = None
    """The file of ``span``, when that is not the file of the definition (a helper that a handler's context reaches)."""


@record
class Problem:
    """A finding: what the rule found, with the rule's code, name and severity. Plain data, safe to serialise."""

    code: str
    name: str
    severity: Severity
    pointer: str
    message: str
    hint: str | None = None
    target: Target = "value"
    start: int | None = None
    end: int | None = None
    fix: str | None = None
    span: Span | None = None
    path: str | None = None

    def placed(self, spans: SpanMap) -> Problem:
        """The same problem with its span looked up, unless it has one."""
        if self.span is not None:
            return self
        return replace(self, span=spans.locate(self.pointer, self.target, self.start, self.end))


@record
class Rule(Generic[SubjectT]):
    """A rule in one place: identity, documentation and the check itself.

    ``bad`` and ``good`` are whole Python plugin sources (NextSkin or Cogover) or, for rules about manifests, manifest texts;
    a test runs them and expects exactly this rule, and nothing. ``source`` cites the requirement (``spec/nextskin.md D3``).
    ``platforms`` limits the rule to platforms by name; empty means all.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    bad: str
    good: str
    source: str
    check: Callable[[SubjectT], Iterable[Found]]
    platforms: tuple[str, ...] = ()

    def problem(self, found: Found) -> Problem:
        """Dress what was found with this rule's identity."""
        return Problem(
            code=self.code,
            name=self.name,
            severity=self.severity,
            pointer=found.pointer,
            message=found.message,
            hint=found.hint,
            target=found.target,
            start=found.start,
            end=found.end,
            fix=found.fix,
            span=found.span,
            path=found.path,
        )


def ordered(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once, by pointer (list items in their order) and code."""
    return sorted(set(problems), key=_place)


def _place(problem: Problem) -> tuple[Any, ...]:
    return tuple(map(_step, split(problem.pointer))), problem.code, problem.start or 0, problem.message


def _step(token: str) -> tuple[int, int, str]:
    return (0, int(token), "") if token.isdecimal() and len(token) < 9 else (1, 0, token)


class Family(Generic[SubjectT]):
    """An ordered set of rules. The object itself is the registry: no global, no import order."""

    __slots__ = ("_chosen", "rules")

    def __init__(self, rules: tuple[Rule[SubjectT], ...]) -> None:
        self.rules = rules
        self._chosen: dict[str, tuple[Rule[SubjectT], ...]] = {}

    def check(self, subject: SubjectT) -> list[Problem]:
        """Run every rule that speaks of the subject's platform; sorted by pointer and code, each problem once."""
        return ordered(self.run(subject))

    def run(self, subject: SubjectT) -> list[Problem]:
        """What every rule that speaks of the subject's platform finds, in the order of the rules."""
        return [rule.problem(found) for rule in self.of(subject.platform.name) for found in rule.check(subject)]

    def of(self, platform: str) -> tuple[Rule[SubjectT], ...]:
        """The rules that speak of a platform."""
        if platform not in self._chosen:
            self._chosen[platform] = tuple(rule for rule in self.rules if not rule.platforms or platform in rule.platforms)
        return self._chosen[platform]
