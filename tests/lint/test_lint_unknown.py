"""What another statement may change, or never runs on import, gives no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_world import findings, plugin, write

GUARDS = [
    'if __name__ == "__main__" and sys.argv:\n    LOOP',
    'if sys.argv and "__main__" == __name__:\n    LOOP',
    'if __name__ != "__main__":\n    pass\nelse:\n    LOOP',
    'if not __name__ != "__main__":\n    LOOP',
    'if not (TYPE_CHECKING or __name__ != "__main__"):\n    LOOP',
    'if __name__ in ("__main__",):\n    LOOP',
    'if __name__ not in ["__main__"]:\n    pass\nelif sys.argv:\n    LOOP',
]
LOADED = [
    'if __name__ == "__main__" or sys.argv:\n    LOOP',
    'if __name__ != "__main__":\n    LOOP',
    'if __name__ in ("__main__", "plugin"):\n    LOOP',
    'if __name__ == "__main__":\n    pass\nelse:\n    LOOP',
    'if not __name__ == "__main__":\n    LOOP',
]


def guarded(guard: str) -> str:
    return plugin() + "\nimport sys\nfrom typing import TYPE_CHECKING\n\n" + guard.replace("LOOP", "while True: pass") + "\n"


@pytest.mark.parametrize("guard", GUARDS)
def test_a_loop_below_a_main_guard_is_not_run_by_an_import(tmp_path: Path, guard: str) -> None:
    write(tmp_path, plugin_py=guarded(guard))
    assert findings(tmp_path) == []


@pytest.mark.parametrize("guard", LOADED)
def test_a_loop_that_an_import_runs_is_found(tmp_path: Path, guard: str) -> None:
    write(tmp_path, plugin_py=guarded(guard))
    assert [each.split()[-1] for each in findings(tmp_path)] == ["NSP401"]


EXPRESSIONS = [
    '__name__ == "__main__" and asyncio.run(None)',
    '__name__ != "__main__" or asyncio.run(None)',
    'asyncio.run(None) if __name__ == "__main__" else None',
    'sys.argv and __name__ == "__main__" and asyncio.run(None)',
    'None if __name__ != "__main__" else asyncio.run(None)',
    'while __name__ == "__main__": asyncio.run(None)',
    'while __name__ == "__main__":\n    pass',
    'assert __name__ != "__main__" or asyncio.run(None)',
    'x = __name__ == "__main__" and asyncio.run(None)',
]
RUN = ["sys.argv and asyncio.run(None)", "asyncio.run(None) if sys.argv else None", '__name__ == "x" or asyncio.run(None)']


@pytest.mark.parametrize("code", [*EXPRESSIONS, *RUN])
def test_a_main_guard_may_be_an_expression(tmp_path: Path, code: str) -> None:
    write(tmp_path, plugin_py=plugin() + "\nimport asyncio\nimport sys\n" + code + "\n")
    assert [each.split()[-1] for each in findings(tmp_path)] == ["NSP401"] * (code in RUN)


SETTERS = ["settings.N = 5", "setattr(settings, 'N', 5)", "settings.N //= 10", "vars(settings)['N'] = 5", "del settings.N"]


@pytest.mark.parametrize("setter", [*SETTERS, "settings.M = 5", "print(settings.N)"])
@pytest.mark.parametrize("way", ["conf", "lib.deep", "lib", "lib.other as x", "conf, settings"])
@pytest.mark.parametrize("taken", ["N", "*"])
def test_a_constant_that_an_imported_module_sets_is_unknown(tmp_path: Path, setter: str, way: str, taken: str) -> None:
    setting = f"import settings\n{setter}\n"
    init = setting if way.startswith("lib.other") else "from . import deep\n"
    write(tmp_path, settings_py="N = 50\n", conf_py="from lib import deep\n", lib__other_py="")
    (tmp_path / "lib" / "__init__.py").write_text(init)
    write(tmp_path, lib__deep_py=setting, unrelated_py="import settings\nsettings.N = 5\n")
    write(tmp_path, plugin_py=attributed(f"import {way}\nfrom settings import {taken}", "N"))
    assert [each.split()[-1] for each in findings(tmp_path, "plugin.py")] == ([] if setter in SETTERS else ["NSP104"])


CLASS = "class Cfg:\n    N = 50\n\n\n"
CHANGES = ["Cfg.N = 5", "Cfg.N -= 45", "setattr(Cfg, 'N', 5)", "setattr(Cfg, name, 5)", "Cfg.__dict__['N'] = 5", "del Cfg.N"]


def attributed(before: str, value: str) -> str:
    return plugin().replace("Job(tidy)", f"Job(tidy, max_attempts={value})").replace("plugin =", f"{before}\n\nplugin =")


@pytest.mark.parametrize("change", CHANGES)
def test_a_class_attribute_that_is_set_again_is_unknown(tmp_path: Path, change: str) -> None:
    write(tmp_path, plugin_py=attributed(CLASS + change, "Cfg.N"))
    assert findings(tmp_path) == []


@pytest.mark.parametrize("other", ["", "Cfg.M = 5", "setattr(Cfg, 'M', 5)", "class A:\n    def b(self): self.N = 1"])
def test_a_class_attribute_that_is_not_set_again_is_known(tmp_path: Path, other: str) -> None:
    write(tmp_path, plugin_py=attributed(CLASS + other, "Cfg.N"))
    assert [each.split()[-1] for each in findings(tmp_path)] == ["NSP104"]


@pytest.mark.parametrize(("change", "codes"), [("", ["NSP104"]), ("settings.N = 5", []), ("setattr(settings, 'N', 5)", [])])
def test_an_attribute_of_a_module_that_is_set_is_unknown(tmp_path: Path, change: str, codes: list[str]) -> None:
    write(tmp_path, plugin_py=attributed(f"import settings\n{change}", "settings.N"), settings_py="N = 50\n")
    assert [each.split()[-1] for each in findings(tmp_path)] == codes


TYPESCRIPT = """import {{ definePlugin }} from '@nextskin/plugin-sdk'
const o = {{ n: 50 }}
{change}
export default definePlugin({{ jobs: {{ tidy: {{ maxAttempts: o.n, handler() {{}} }} }} }})
"""
OBJECTS = [
    ("", ["NSP104"]),
    ("Object.assign(o, { n: 5 })", []),
    ("o.n = 5", []),
    ("const p = o; p.n = 5", []),
    ("const p = o; Object.assign(p, { n: 5 })", []),
]


@pytest.mark.parametrize(("change", "codes"), OBJECTS)
def test_a_property_that_is_set_again_is_unknown(tmp_path: Path, change: str, codes: list[str]) -> None:
    write(tmp_path, plugin_ts=TYPESCRIPT.format(change=change))
    assert [each.split()[-1] for each in findings(tmp_path)] == codes
