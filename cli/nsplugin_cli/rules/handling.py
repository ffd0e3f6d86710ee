"""NSP402-404: what handlers do with payloads, secrets and failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nsplugin.pointers import UNKNOWN
from nsplugin.rules._family import Found, Rule
from nsplugin.rules.subject import ABSENT
from nsplugin_cli.rules.subject import SourceSubject

_CHECK: Final = "check the payload before it is used: with a model, a schema, or by hand"
_PAYLOAD: Final = """\
from nsplugin import Context, Job, define_plugin


async def expire(payload, ctx: Context) -> None:
    BODY


plugin = define_plugin(id="cache-expiry", capabilities=["storage.kv"], jobs={"expire": Job(expire)})
"""
_CHECKED: Final = """\
if not isinstance(payload, dict) or not isinstance(payload.get("key"), str):
        raise ValueError("the payload must be an object with the text `key`")
    await ctx.kv.delete(payload["key"])"""
_SECRET: Final = """\
from nsplugin import Context, Job, define_plugin

API_KEY = "read from a file"


async def purge(ctx: Context) -> None:
    raise RuntimeError(MESSAGE)


plugin = define_plugin(id="cdn-refresh", jobs={"purge": Job(purge)})
"""
_RETRY: Final = """\
from nsplugin.cogover import RetryableError, define_job


@define_job(key="sync_order", max_attempts=8)
async def sync_order(data):
    try:
        await data.object("order").records.list()
    except ConnectionError as error:
        raise ERROR from error


jobs = [sync_order]
"""


def _unvalidated(subject: SourceSubject) -> Iterator[Found]:
    jobs = {job.pointer: job for job in subject.jobs}
    for read in subject.facts.payload_reads:
        job = jobs.get(read.job)
        if job is None or job.get("payloadSchema") is not ABSENT or UNKNOWN in job.raw:
            continue
        message = f"{read.written} is used, and nothing checks what the payload holds"
        yield Found(pointer=read.job, message=message, hint=_CHECK, span=read.span, path=read.path)


def _secret_raised(subject: SourceSubject) -> Iterator[Found]:
    for secret in subject.facts.secrets_raised:
        message = f"{secret.name} becomes part of an exception's message, which is stored and shown to administrators"
        yield Found(pointer="", message=message, hint="leave it out of the message", span=secret.span, path=secret.path)


def _never_retried(subject: SourceSubject) -> Iterator[Found]:
    for job in subject.jobs:
        attempts = job.get("maxAttempts")
        asked = type(attempts) is int and 1 < attempts <= subject.platform.max_attempts.max
        if asked and job.pointer in subject.facts.never_retryable:
            message = f"{attempts} attempts are allowed, but nothing here raises RetryableError: only a time-out is retried"
            hint = "raise RetryableError for what passes by itself, or leave the attempts out"
            yield Found(pointer=job.pointer + "/maxAttempts", message=message, hint=hint)


RULES: Final[tuple[Rule[SourceSubject], ...]] = (
    Rule(
        code="NSP402",
        name="payload-unvalidated",
        severity="warning",
        summary="A job's handler uses parts of its payload that nothing has checked.",
        why=(
            "A payload is stored and read later, by other code than the one that wrote it, perhaps of another version. A type "
            "annotation checks nothing."
        ),
        bad=_PAYLOAD.replace("BODY", 'await ctx.kv.delete(payload["key"])'),
        good=_PAYLOAD.replace("BODY", _CHECKED),
        source="spec/nextskin.md D7",
        check=_unvalidated,
    ),
    Rule(
        code="NSP403",
        name="secret-in-exception",
        severity="warning",
        summary="The message of an exception that a handler raises holds a secret.",
        why="The message of a failed attempt is stored with the task, shown on the administration page, and written to logs.",
        bad=_SECRET.replace("MESSAGE", 'f"the CDN refused the key {API_KEY}"'),
        good=_SECRET.replace("MESSAGE", '"the CDN refused the key"'),
        source="spec/nextskin.md A5",
        check=_secret_raised,
    ),
    Rule(
        code="NSP404",
        name="retry-never-happens",
        severity="warning",
        summary="A job asks for several attempts, but nothing that its handler runs raises RetryableError.",
        why="Any other error ends the run at once: the attempts that were asked for are never made, save after a time-out.",
        bad=_RETRY.replace("ERROR", 'RuntimeError("later")').replace("RetryableError, ", ""),
        good=_RETRY.replace("ERROR", 'RetryableError("later")'),
        source="spec/cogover.md X4",
        check=_never_retried,
        platforms=("cogover",),
    ),
)
