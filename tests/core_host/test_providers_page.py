"""``docs/providers.md`` says what is there: settings with their defaults, provider methods, messages."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from nsplugin.runtime import providers
from nsplugin.runtime.faults import Fault
from nsplugin_core.host.settings import HostSettings

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]
SIZES = {4 << 30: "4 GiB", 4 << 20: "4 MiB", 8 << 10: "8 KiB"}
UNLISTED = {"work_directory"}


def shown(value: Any) -> str:
    """A default as the page writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'`"{value}"`' if isinstance(value, str) else SIZES.get(value, f"{value:,g}")


def test_every_setting_is_listed_with_its_default() -> None:
    """Settings that stand in one row share its default, or have one each."""
    listed = {}
    for row in ROWS:
        defaults = re.split(r", (?!\d{3})", row[1])
        names = re.findall(r"`(\w+)`", row[0])
        listed |= dict(zip(names, defaults if len(defaults) == len(names) else defaults * len(names), strict=True))
    settings = HostSettings()
    for field in fields(HostSettings):
        if field.name not in UNLISTED:
            assert listed[field.name] == shown(getattr(settings, field.name)), field.name


def test_every_provider_is_listed_with_its_methods() -> None:
    listed = {name: set(re.findall(r"`(\w+)`", methods)) for row in ROWS for _, name, methods in [row] if "Provider" in name}
    for name, methods in listed.items():
        provider = getattr(providers, name.strip("`"))
        assert {method for method, value in vars(provider).items() if inspect.isfunction(value) and method[0] != "_"} == methods
    assert len(listed) == sum(name.endswith("Provider") for name in vars(providers))


def test_the_quoted_message_is_the_real_one() -> None:
    try:
        providers.Providers().plugged("email")
    except Fault as fault:
        assert f"{fault.code}: {fault.message}" in PAGE
