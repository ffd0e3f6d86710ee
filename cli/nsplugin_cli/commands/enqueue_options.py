"""The options of ``jobs enqueue``: each platform has its own, named after those of its API."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from nsplugin.record import record
from nsplugin_cli.diagnostic import WrongCall

if TYPE_CHECKING:
    from nsplugin_core.views import PluginView

FLAGS: Final[Mapping[str, str]] = {
    "delaySec": "--delay-sec",
    "delayMs": "--delay-ms",
    "runAt": "--run-at",
    "dedupeKey": "--dedupe-key",
    "idempotencyKey": "--idempotency-key",
}
"""The flag for each option of a platform's API."""
MAX_PAYLOAD: Final = 1 << 20
_ANY_JSON: Final = "a payload is JSON: an object, a list, a text in double quotes, a number, true, false or null"

OPTIONS: Final = (
    click.option("--payload", metavar="JSON", help="The payload; @FILE reads it from a file, - from standard input."),
    click.option("--delay-sec", type=int, metavar="N", help="Run it N seconds from now (NextSkin)."),
    click.option("--dedupe-key", metavar="K", help="Only one unfinished task of the job has this key (NextSkin)."),
    click.option("--delay-ms", type=int, metavar="N", help="Run it N milliseconds from now (Cogover)."),
    click.option("--run-at", metavar="TIME", help="Run it at this time: ISO 8601, or Unix milliseconds (Cogover)."),
    click.option("--idempotency-key", metavar="K", help="Only one stored run of the job has this key (Cogover)."),
    click.option("--as", "user", metavar="USER", help="The administrator it runs as; default: the login name."),
)


@record
class Asked:
    """What the command line asks for, ``options`` in the API's names."""

    payload: Any
    options: Mapping[str, Any]
    user: str


def asked(platform: str, given: Mapping[str, str | int | None]) -> Asked:
    """Read the options. Raises :class:`WrongCall` for those that the platform does not have, and for a bad payload."""
    from nsplugin.platforms import load
    from nsplugin.runtime.enqueueing import option_names

    found = load(platform)
    own = option_names(found.enqueue)
    options = {name: given[_field(flag)] for name, flag in FLAGS.items() if given[_field(flag)] is not None}
    for name in options:
        if name not in own:
            there = ", ".join(FLAGS[each] for each in own)
            raise WrongCall(f"{FLAGS[name]} is not for {found.title}: it has {there}")
    times = [FLAGS[name] for name in options if name not in ("dedupeKey", "idempotencyKey")]
    if len(times) > 1:
        raise WrongCall(f"{' and '.join(times)} exclude each other: give one of them")
    if "runAt" in options:
        options["runAt"] = _moment(str(options["runAt"]))
    text = given["payload"]
    payload = found.payload.absent_value if text is None else _payload(str(text))
    return Asked(payload=payload, options=options, user=_user(given["user"]))


def remark(plugin: PluginView, *, duplicate: bool) -> str:
    """What is to be said of a task that was accepted, behind its id."""
    if duplicate:
        return " (it holds the key already: nothing was added)"
    return "" if plugin.enabled else f" ({plugin.id} is disabled: the task waits until `nsplugin enable {plugin.id}`)"


def _field(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _moment(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 16:
        return int(text)
    from nsplugin_cli.commands.options import instant

    try:
        return int(instant(text).timestamp() * 1000)
    except click.BadParameter as error:
        raise WrongCall(f"--run-at: {error.message}; or Unix milliseconds") from error


def _user(named: str | int | None) -> str:
    if named:
        return str(named)
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:
        raise WrongCall("nobody is logged in by a name: name the administrator with --as USER") from error


def _payload(text: str) -> Any:
    """JSON as strictly read as a manifest is: no duplicate keys, no NaN."""
    from nsplugin.reading import read

    source, data = _source(text)
    document = read(data)
    for problem in document.problems:
        place = f" line {problem.span.line}, column {problem.span.column}" if problem.span is not None else ""
        raise WrongCall(f"{source}{place}: {problem.message}{''.join(_hint(problem.hint))}")
    return document.value


def _hint(hint: str | None) -> Iterator[str]:
    """The reader's advice is for manifests, which are objects; a payload may be any JSON."""
    if hint:
        yield f" ({_ANY_JSON if 'JSON object' in hint else hint.replace('the manifest', 'the payload')})"


def _source(text: str) -> tuple[str, bytes]:
    if text == "-":
        return "--payload", sys.stdin.buffer.read(MAX_PAYLOAD + 1)
    if not text.startswith("@"):
        return "--payload", text.encode("utf-8", "surrogateescape")
    return text[1:], _file(text[1:])


def _file(name: str) -> bytes:
    if not name:
        raise WrongCall("--payload: @ names no file: write @FILE, or - for standard input")
    try:
        with Path(name).open("rb") as file:
            return file.read(MAX_PAYLOAD + 1)
    except IsADirectoryError as error:
        raise WrongCall(f"--payload: {name} is a folder, and a payload is a file") from error
    except (OSError, ValueError) as error:
        raise WrongCall(f"--payload: cannot read {name}: {getattr(error, 'strerror', None) or error}") from error
