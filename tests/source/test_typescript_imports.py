"""How module names lead to files of the repository: endings, folders, ``tsconfig.json``, links."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_world import findings

PLUGIN = (
    "import {{ definePlugin }} from '@nextskin/plugin-sdk';\n{statement}\n"
    "export default definePlugin({{ jobs: {{ a: {{ maxAttempts: attempts, handler() {{}} }} }} }});\n"
)
FOUND = ["plugin.ts:3:57 NSP104"]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def project(folder: Path, written: str, files: dict[str, str]) -> None:
    (folder / ".git").mkdir()
    write(folder, {"plugin.ts": PLUGIN.format(statement=f"import {{ attempts }} from '{written}';"), **files})


LIMITS = "export const attempts = 21;\n"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("./limits", "limits.ts"),
        ("./limits.js", "limits.ts"),
        ("./limits.mjs", "limits.mts"),
        ("./limits.cjs", "limits.cts"),
        ("./limits.jsx", "limits.tsx"),
        ("./limits.ts", "limits.ts"),
        ("./limits", "limits.js"),
        ("./limits", "limits/index.ts"),
        ("./limits/", "limits/index.js"),
        (".", "index.ts"),
        ("./deep/../limits", "limits.ts"),
        ("./limits.config", "limits.config.ts"),
    ],
)
def test_relative_names(tmp_path: Path, written: str, name: str) -> None:
    project(tmp_path, written, {name: LIMITS})
    assert findings(tmp_path) == FOUND


@pytest.mark.parametrize(
    ("written", "name", "config"),
    [
        ("@/limits", "src/limits.ts", '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"]}}}'),
        ("@/limits", "src/limits.ts", '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}'),
        ("~limits", "src/limits.ts", '{"compilerOptions": {"paths": {"~limits": ["./src/limits.ts"]}}}'),
        ("@/limits", "b/limits/index.ts", '{"compilerOptions": {"paths": {"@/*": ["./a/*", "./b/*"]}}}'),
        ("@/lib/limits", "lib/limits.ts", '{"compilerOptions": {"paths": {"@/*": ["./src/*"], "@/lib/*": ["./lib/*"]}}}'),
        ("lib/limits", "src/lib/limits.ts", '{"compilerOptions": {"baseUrl": "src"}}'),
        ("@/limits", "src/limits.ts", '{ // comment\n "compilerOptions": { /* , */ "paths": { "@/*": ["./src/*",], }, }, }\n'),
        ("@/limits", "src/limits.ts", '\ufeff{"extends": "./base", "compilerOptions": {"strict": true}}'),
        ("@/limits", "src/limits.ts", '{"extends": ["@tsconfig/node20", "./base.json"]}'),
    ],
)
def test_names_that_the_project_gives(tmp_path: Path, written: str, name: str, config: str) -> None:
    base = '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}'
    project(tmp_path, written, {name: LIMITS, "tsconfig.json": config, "base.json": base})
    assert findings(tmp_path) == FOUND
    (tmp_path / "tsconfig.json").unlink()
    assert findings(tmp_path) == [], "a verdict rests on the configuration"


@pytest.mark.parametrize(
    "config",
    [
        "{",
        "[]",
        "",
        '{"compilerOptions": 5}',
        '{"compilerOptions": {"paths": []}}',
        '{"compilerOptions": {"paths": {"@/*": "src/*"}}}',
        '{"compilerOptions": {"paths": {"@/*": [5]}, "baseUrl": 5}}',
        '{"compilerOptions": {"paths": {"@/*": ["../../*"]}}}',
        '{"extends": "./tsconfig.json"}',
        '{"extends": "./missing.json"}',
        "[" * 100_000,
        "/*a," * 200_000,
        '"a, ' * 200_000,
    ],
)
def test_a_configuration_that_says_nothing_useful_is_passed_over(tmp_path: Path, config: str) -> None:
    project(tmp_path, "@/limits", {"src/limits.ts": LIMITS, "tsconfig.json": config})
    assert findings(tmp_path) == []


def test_links_that_lead_out_or_round_in_circles_are_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    project(inside, "./limits", {})
    write(tmp_path, {"limits.ts": LIMITS})
    (inside / "limits.ts").symlink_to(tmp_path / "limits.ts")
    assert findings(inside) == []
    (inside / "limits.ts").unlink()
    (inside / "limits.ts").symlink_to(inside / "limits.ts")
    assert findings(inside) == []
    (inside / "limits.ts").unlink()
    (inside / "limits").symlink_to(inside, target_is_directory=True)
    assert findings(inside) == []
