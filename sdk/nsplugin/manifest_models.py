"""The manifests as pydantic models: the source of the published JSON Schemas, limits filled in from the platforms.

Nothing that checks manifests imports this module (decision 0002: pydantic alone would take half of the start-up budget);
``nsplugin.structure`` walks the schemas that it produces, and a test holds the two to the same verdicts.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema

from nsplugin.manifest_texts import ENTRY
from nsplugin.platforms import CountLimit, CronPolicy, IntegerLimit, LengthLimit, NameLimit, Platform, load
from nsplugin.structure import MANIFEST_VERSION

NEXTSKIN = load("nextskin")
COGOVER = load("cogover")
PlatformName = TypeVar("PlatformName", bound=str)


class Keywords:
    """Adds JSON Schema keywords to a field without changing what the model accepts: limits are the rules' work."""

    def __init__(self, **keywords: Any) -> None:
        self.keywords = keywords

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), **self.keywords}


def _whole(pattern: str) -> str:
    """The pattern for a validator that searches: all of the string, in every engine without a trailing line feed."""
    return rf"^(?:{pattern})$(?!\n)"


def _encodable(text: str) -> str:
    text.encode()
    return text


Text = Annotated[str, AfterValidator(_encodable)]
"""A string that UTF-8 can hold: pydantic lets an unpaired surrogate pass, a manifest file cannot."""


Capability = Annotated[Text, Keywords(pattern=_whole(r"\S+"))]


def _name(limit: NameLimit) -> Keywords:
    return Keywords(pattern=_whole(limit.pattern), maxLength=limit.max_length)


def _integer(limit: IntegerLimit) -> Keywords:
    return Keywords(minimum=limit.min, maximum=limit.max)


def _zone(policy: CronPolicy) -> Keywords:
    return Keywords(maxLength=policy.time_zone_max_length, minLength=1)


def _length(limit: LengthLimit | None) -> Keywords:
    return Keywords(maxLength=limit.max_length) if limit else Keywords()


def _count(limit: CountLimit | None) -> Keywords:
    return Keywords(maxItems=limit.max_count) if limit else Keywords()


def _route_keys(platform: Platform) -> Keywords:
    methods = "|".join(platform.routes.methods)
    return Keywords(propertyNames={"pattern": _whole(rf"(?:{methods}) /[^\s?#]*")})


def _without_default(schema: dict[str, Any]) -> None:
    """A key that may be left out but not be null: ``None`` stands for it in Python, and the schema names no default."""
    del schema["default"]


def optional(description: str, **extra: Any) -> Any:
    """A field that may be left out and has no default."""
    return Field(default=None, description=description, json_schema_extra=_without_default, **extra)


def _expression(policy: CronPolicy) -> str:
    return (
        "Five fields: minute, hour, day of month, month, day of week (0 and 7 are Sunday);"
        " each a list of *, n, a-b, */s, a-b/s."
        f" At most {policy.max_length} characters, white space counted once."
    )


_FIELDS = Keywords(pattern=r"^[ \t]*(?:[0-9*,/-]+[ \t]+){4}[0-9*,/-]+[ \t]*$(?!\n)")


class Strict(BaseModel):
    """No coercion, no unknown keys, the manifest's own key names."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="forbid", alias_generator=to_camel)


class _Manifest(Strict, Generic[PlatformName]):
    manifest_version: Annotated[int, Keywords(const=MANIFEST_VERSION)] = Field(description="The manifest format's version.")
    platform: PlatformName = Field(description="The platform that this is for.")
    id: Text
    version: Annotated[Text, Keywords(pattern=r"\S")] = optional("The plugin's own version.", examples=["1.4.0"])
    entry: Annotated[Text, Keywords(pattern=_whole(ENTRY))] = Field(
        description="The module and attribute that hold the definition.", examples=["plugin:plugin"]
    )


class NextSkinJob(Strict, title="NextSkin job"):
    """Work that the core runs: started by ctx.jobs.enqueue or by an entry of cron."""

    max_attempts: Annotated[int, _integer(NEXTSKIN.max_attempts)] = Field(
        default=NEXTSKIN.max_attempts.default, description="How often a task is tried in all, the first attempt included."
    )
    timeout_ms: Annotated[int, _integer(NEXTSKIN.timeout_ms)] = Field(
        default=NEXTSKIN.timeout_ms.default, description="How long an attempt may take, in milliseconds."
    )
    payload_schema: dict[str, Any] | bool = optional(
        "A JSON Schema (draft 2020-12) of the payload; it refers only inside itself.", examples=[{"type": "object"}]
    )


class NextSkinSchedule(Strict, title="NextSkin schedule"):
    """A job started by the clock, in the site's time zone."""

    schedule: Annotated[Text, _FIELDS] = Field(description=_expression(NEXTSKIN.cron), examples=["0 3 * * *"])
    job: Text = Field(description="The job to start: a key of jobs.", examples=["expire"])
    payload: Annotated[Any, Keywords(default=NEXTSKIN.payload.absent_value)] = Field(
        default_factory=dict, description="What the job gets: any JSON value. Left out it is {}; null stays null."
    )


class NextSkinRoute(Strict, title="NextSkin route"):
    """An HTTP route of the plugin; its key is the method and the path: "POST /expire"."""

    auth: Annotated[Text, Keywords(enum=list(NEXTSKIN.routes.auth))] = Field(
        description="Who may call it.", examples=list(NEXTSKIN.routes.auth)
    )


class NextSkinManifest(_Manifest[Literal["nextskin"]], title="NextSkin manifest"):
    """What a host installs of a NextSkin plugin: plain JSON that holds no code."""

    id: Annotated[Text, _name(NEXTSKIN.plugin_id)] = Field(description="The plugin's id.", examples=["cdn-refresh"])
    capabilities: Annotated[tuple[Capability, ...], Field(strict=False), Keywords(uniqueItems=True)] = optional(
        "What the plugin may use.", examples=[list(NEXTSKIN.capabilities.known)]
    )
    jobs: Annotated[dict[str, NextSkinJob], Keywords(propertyNames=_name(NEXTSKIN.job_name).keywords)] = optional(
        "The jobs by name.", examples=[{"expire": {"timeoutMs": NEXTSKIN.timeout_ms.default}}]
    )
    cron: Annotated[tuple[NextSkinSchedule, ...], Field(strict=False)] = optional(
        "What the clock starts.", examples=[[{"schedule": "0 3 * * *", "job": "expire"}]]
    )
    routes: Annotated[dict[str, NextSkinRoute], _route_keys(NEXTSKIN)] = optional(
        "The HTTP routes by method and path.", examples=[{"POST /expire": {"auth": "user"}}]
    )


class CogoverSchedule(Strict, title="Cogover schedule"):
    """When the clock starts the job."""

    cron: Annotated[Text, _FIELDS] = Field(description=_expression(COGOVER.cron), examples=["0 2 * * *"])
    timezone: Annotated[Text, _zone(COGOVER.cron)] = Field(
        default=COGOVER.cron.time_zone_default,
        description="An IANA time zone such as Asia/Ho_Chi_Minh, or a fixed offset such as UTC+07:00.",
    )


class CogoverJob(Strict, title="Cogover job"):
    """A background job: started by jobs.enqueue or by its schedule."""

    key: Annotated[Text, _name(COGOVER.job_name)] = Field(
        description="The job's name in code; unique in the project without regard to case.", examples=["recalc_totals"]
    )
    name: Annotated[Text, _length(COGOVER.display_name)] = optional(
        "The job's name for people.", examples=["Recalculate order totals"]
    )
    timeout_ms: Annotated[int, _integer(COGOVER.timeout_ms)] = Field(
        default=COGOVER.timeout_ms.default, description="How long an attempt may take, in milliseconds."
    )
    max_attempts: Annotated[int, _integer(COGOVER.max_attempts)] = Field(
        default=COGOVER.max_attempts.default, description="How often a run is tried in all, the first attempt included."
    )
    schedule: CogoverSchedule = optional("When the clock starts the job.", examples=[{"cron": "0 2 * * *"}])


class CogoverManifest(_Manifest[Literal["cogover"]], title="Cogover manifest"):
    """What a Cogover project declares: its background jobs, as plain JSON that holds no code."""

    id: Annotated[Text, _name(COGOVER.plugin_id)] = Field(description="The project's id.", examples=["order_automation"])
    jobs: Annotated[tuple[CogoverJob, ...], Field(strict=False), _count(COGOVER.jobs)] = Field(
        description="The jobs.", examples=[[{"key": "recalc_totals"}]]
    )
