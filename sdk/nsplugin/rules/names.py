"""Rules about names: of the plugin, of its jobs, and how many jobs there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nsplugin.platforms import NameLimit
from nsplugin.rules._family import Found, Rule
from nsplugin.rules.subject import JobView, Subject
from nsplugin.wording import counted, plain, quoted


def _bad_form(subject: Subject) -> Iterator[Found]:
    limit = subject.platform.job_name
    for job in subject.named_jobs:
        if not limit.matches(job.name):
            yield Found(
                pointer=job.name_pointer,
                message=f"{limit.noun} {quoted(job.name)} must {limit.form}" if job.name else f"the {limit.noun} is empty",
                hint=_renamed(job.name, limit),
                target=job.name_target,
            )


def _renamed(name: str, limit: NameLimit) -> str | None:
    """A good name that says the same as a bad one: only what stands between letters and digits differs."""
    for joint in "-_" if name.isascii() else "":
        candidate = re.sub("[^A-Za-z0-9]+", joint, plain(name)[: limit.max_length]).strip(joint)
        if limit.matches(candidate):
            return f'for example "{candidate}"'
    return None


def _too_long(subject: Subject) -> Iterator[Found]:
    limit = subject.platform.job_name
    for job in subject.named_jobs:
        if len(job.name) > limit.max_length:
            yield Found(
                pointer=job.name_pointer,
                message=f"{limit.noun} {quoted(job.name)} has {_over(job.name, limit.max_length)}",
                target=job.name_target,
            )


def _over(text: str, most: int) -> str:
    return f"{counted(len(text), 'character')}; at most {most} are allowed"


def _fits(name: str, limit: NameLimit) -> bool:
    return len(name) <= limit.max_length and limit.matches(name)


def _qualified_too_long(subject: Subject) -> Iterator[Found]:
    platform, limit, plugin = subject.platform, subject.platform.qualified_name, subject.raw.get("id")
    if limit is None or not isinstance(plugin, str) or not _fits(plugin, platform.plugin_id):
        return
    around = len(limit.template.format(id=plugin, name="")) - limit.max_length
    for job in subject.named_jobs:
        over = around + len(job.name)
        if over > 0 and _fits(job.name, platform.job_name):
            template = limit.template.format(id="{id}", name="{name}")
            yield Found(
                pointer=job.name_pointer,
                message=f"the qualified name {template} of job {quoted(job.name)} has"
                f" {counted(limit.max_length + over, 'character')}; at most {limit.max_length} are allowed",
                hint=f"shorten the {platform.plugin_id.noun} or the {platform.job_name.noun} by {counted(over, 'character')}",
                target=job.name_target,
            )


def _duplicate(subject: Subject) -> Iterator[Found]:
    first: dict[str, JobView] = {}
    limit = subject.platform.job_name
    for job in subject.named_jobs:
        earlier = first.setdefault(_same(job.name, limit), job)
        if earlier is not job:
            case = "" if earlier.name == job.name else f" as {quoted(earlier.name)}: upper and lower case count as the same"
            yield Found(
                pointer=job.name_pointer,
                message=f"{limit.noun} {quoted(job.name)} is used already by {earlier.pointer}{case}",
                hint="give each job a name of its own",
                target=job.name_target,
            )


def _same(name: str, limit: NameLimit) -> str:
    return plain(name).casefold() if name.isascii() and not limit.case_sensitive else plain(name)


def _too_many(subject: Subject) -> Iterator[Found]:
    limit, count = subject.platform.jobs, subject.job_count
    if limit is not None and count > limit.max_count:
        title = subject.platform.title
        message = f"{counted(count, 'job')} are declared; {title} takes at most {limit.max_count}"
        yield Found(pointer="/jobs", message=message)


def _display_too_long(subject: Subject) -> Iterator[Found]:
    limit = subject.platform.display_name
    for job in subject.jobs if limit is not None else ():
        name = job.get("name")
        if limit is not None and isinstance(name, str) and len(name) > limit.max_length:
            yield Found(pointer=job.pointer + "/name", message=f"the name has {_over(name, limit.max_length)}")


def _plugin_id(subject: Subject) -> Iterator[Found]:
    limit, name = subject.platform.plugin_id, subject.raw.get("id")
    if not isinstance(name, str):
        return
    if not limit.matches(name):
        message = f"{limit.noun} {quoted(name)} must {limit.form}" if name else f"the {limit.noun} is empty"
        yield Found(pointer="/id", message=message, hint=_renamed(name, limit))
    elif len(name) > limit.max_length:
        yield Found(pointer="/id", message=f"{limit.noun} {quoted(name)} has {_over(name, limit.max_length)}")


_NEXTSKIN = """\
from nsplugin import Job, define_plugin


async def expire(payload, ctx):
    ...


plugin = define_plugin(id="cache", jobs={"expire": Job(expire)})
"""

_COGOVER = """\
from nsplugin.cogover import define_job


@define_job(key="sync_order")
async def sync_order(payload, data):
    ...


@define_job(key="close_order", name="Close an order")
async def close_order(payload, data):
    ...


jobs = [sync_order, close_order]
"""

RULES: Final[tuple[Rule[Subject], ...]] = (
    Rule(
        code="NSP101",
        name="job-name-invalid",
        severity="error",
        summary="A job's name has characters, or an order of them, that the platform does not take.",
        why="The name becomes part of queue and log keys, and the platform refuses the plugin at installation."
        " The whole name counts: also a line feed at its end.",
        bad=_NEXTSKIN.replace('"expire"', '"1 expire"'),
        good=_NEXTSKIN,
        source="spec/nextskin.md D3; spec/cogover.md D3",
        check=_bad_form,
    ),
    Rule(
        code="NSP102",
        name="job-name-too-long",
        severity="error",
        summary="A job's name has more characters than the platform takes.",
        why="The platform refuses the plugin at installation.",
        bad=_NEXTSKIN.replace('"expire"', '"expire-the-entries-of-the-cache-that-nobody-has-asked-for-since-monday"'),
        good=_NEXTSKIN,
        source="spec/nextskin.md D3; spec/cogover.md D3",
        check=_too_long,
    ),
    Rule(
        code="NSP103",
        name="qualified-name-too-long",
        severity="error",
        summary="The job's qualified name, made of the plugin's id and the job's name, is too long.",
        why="Each part may be fine alone; NextSkin stores both together and refuses the plugin at installation.",
        bad=_NEXTSKIN.replace('"cache"', '"a-cache-of-rendered-pages-for-sites-with-many-languages"').replace(
            '"expire"', '"expire-the-entries-of-the-cache-that-nobody-has-asked-for-lately"'
        ),
        good=_NEXTSKIN,
        source="spec/nextskin.md D4",
        check=_qualified_too_long,
        platforms=("nextskin",),
    ),
    Rule(
        code="NSP107",
        name="job-name-duplicate",
        severity="error",
        summary="Two jobs have the same key.",
        why="An enqueue by that key could mean either. Cogover compares keys without regard to case.",
        bad=_COGOVER.replace('"close_order"', '"Sync_Order"'),
        good=_COGOVER,
        source="spec/cogover.md D3",
        check=_duplicate,
    ),
    Rule(
        code="NSP108",
        name="too-many-jobs",
        severity="error",
        summary="The project declares more jobs than the platform takes.",
        why="Cogover refuses the whole version when it is published.",
        bad="from nsplugin.cogover import define_job\n\n\ndef work(payload):\n    ...\n\n\n"
        'jobs = [define_job({"key": f"part_{n}"}, work) for n in range(60)]\n',
        good=_COGOVER,
        source="spec/cogover.md D7",
        check=_too_many,
        platforms=("cogover",),
    ),
    Rule(
        code="NSP109",
        name="display-name-too-long",
        severity="error",
        summary="A job's name for people is too long.",
        why="Cogover refuses it. A name is a label; what a job does belongs into its documentation.",
        bad=_COGOVER.replace('"Close an order"', '"Close an order" + " and write to everyone who took part" * 8'),
        good=_COGOVER,
        source="spec/cogover.md D4",
        check=_display_too_long,
        platforms=("cogover",),
    ),
    Rule(
        code="NSP110",
        name="plugin-id-invalid",
        severity="error",
        summary="The plugin's id has characters that an id does not take, or too many.",
        why="The id is part of every job's qualified name and of addresses on the administration page.",
        bad=_NEXTSKIN.replace('"cache"', '"my cache"'),
        good=_NEXTSKIN,
        source="spec/nextskin.md D9",
        check=_plugin_id,
    ),
)
