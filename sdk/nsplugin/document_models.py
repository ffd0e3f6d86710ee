"""The documents around a manifest as pydantic models, the source of their JSON Schemas: the report and the project file.

As with the manifests, nothing that runs on every start imports this module (decision 0002).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from nsplugin.manifest_models import Keywords, Strict, optional
from nsplugin.platforms import NAMES


class _Open(BaseModel):
    """Readers of a report ignore what they do not know: later versions add keys."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="allow", alias_generator=to_camel)


class Summary(_Open, title="summary"):
    """What was found, in numbers."""

    files: int = Field(ge=0, description="How many files were looked at.")
    errors: int = Field(ge=0, description="How many findings are errors.")
    warnings: int = Field(ge=0, description="How many findings are warnings.")


class Finding(_Open, title="diagnostic"):
    """One fault at one place."""

    code: Annotated[str, Keywords(pattern="^NSP[0-9]{3}$")] = Field(description="The rule's code, stable for ever.")
    name: str = Field(description="The rule's name.")
    severity: Literal["error", "warning"] = Field(description="Whether the fault fails the run.")
    message: str = Field(description="What is wrong, and what is allowed.")
    hint: str | None = Field(default=None, description="What to write instead.")
    path: str | None = Field(default=None, description="The file, relative to where the command ran.")
    pointer: str | None = Field(default=None, description="RFC 6901 pointer into the manifest.")
    line: int | None = Field(default=None, ge=1, description="The first line, from 1.")
    column: int | None = Field(default=None, ge=1, description="The first column, from 1, in characters.")
    end_line: int | None = Field(default=None, ge=1, description="The last line.")
    end_column: int | None = Field(default=None, ge=1, description="The column after the last character.")


class ScheduleFires(_Open, title="schedule"):
    """When a schedule fires next."""

    pointer: str = Field(description="RFC 6901 pointer into the manifest.")
    expression: str = Field(description="The expression, white space reduced.")
    timezone: str = Field(description="The time zone that the expression is read in.")
    next_fires: list[str] = Field(description="The next fire times, in UTC.", examples=[["2026-12-01T19:00:00Z"]])


class PluginReport(_Open, title="plugin"):
    """A manifest that was built or checked."""

    id: str | None = Field(default=None, description="The plugin's id.")
    platform: str | None = Field(default=None, description="The plugin's platform.")
    manifest: str | None = Field(default=None, description="The manifest's file.")
    digest: str | None = Field(default=None, description="sha256: and the hash of the RFC 8785 form.")
    schedules: list[ScheduleFires] = optional("The schedules and their next fire times.")


class Report(_Open, title="report"):
    """What --format json prints: one object with all findings of a run."""

    version: Literal[1] = Field(description="The version of this format.")
    command: str = Field(description="The command that made the report.", examples=["check"])
    summary: Summary
    diagnostics: list[Finding] = Field(description="The findings, sorted by path, line and code.")
    plugins: list[PluginReport] = optional("The manifests that were built or checked.")


_CODE: Final = "[Nn](?:[Ss](?:[Pp][0-9]{0,3})?)?"
_NAME: Final = "[A-Za-z]+(?:-[A-Za-z]+)+"
_CODES: Any = Keywords(items={"type": "string", "pattern": f"^(?:{_CODE}|{_NAME})$"})


class ProjectFile(Strict, title="project file"):
    """nsplugin.toml, or [tool.nsplugin] in pyproject.toml."""

    platform: Annotated[str, Keywords(enum=list(NAMES))] = optional("The platform that the plugin is for.")
    id: str = optional("The plugin's id.", examples=["cdn-refresh"])
    version: str = optional("The plugin's own version.", examples=["1.4.0"])
    entry: str = optional("The file, or module and attribute, that define the plugin.", examples=["plugin.py", "pkg.mod:attr"])
    timezone: str = optional("The site's time zone.", examples=["Europe/Berlin"])
    out: str = optional("Where build writes the manifest.", examples=["dist"])
    select: Annotated[list[str], _CODES] = optional("The rules to run: codes, their beginnings or names.", examples=[["NSP2"]])
    ignore: Annotated[list[str], _CODES] = optional("The rules not to run.", examples=[["NSP209"]])
    per_file_ignores: dict[str, Annotated[list[str], _CODES]] = optional(
        "The rules not to run, by file pattern.", alias="per-file-ignores", examples=[{"tests/*": ["NSP4"]}]
    )
