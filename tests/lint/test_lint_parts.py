"""A list of jobs that another list takes in is no plugin of its own: its jobs may start those of the whole (NSP304)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_world import findings, write

LIBRARY = 'import { defineJob } from "@cogover/sdk";\n'
TYPESCRIPT = {
    "jobs__a_ts": LIBRARY + 'export const a = defineJob({ key: "a" }, async ({ jobs }) => { await jobs.enqueue("NAME"); });\n',
    "jobs__index_ts": 'import { a } from "./a";\nexport const jobs = [a];\n',
    "main_ts": LIBRARY
    + 'import { jobs as more } from "./jobs";\n'
    + 'const extra = defineJob({ key: "extra" }, async () => {});\nexport const jobs = [...more, extra];\n',
}
PYTHON_JOB = 'from nsplugin.cogover import define_job\n\n\n@define_job(key="KEY")\nasync def KEY(jobs):\n    BODY\n\n\n'
PYTHON = {
    "parts__init_py": PYTHON_JOB.replace("KEY", "a").replace("BODY", 'await jobs.enqueue("NAME")') + "jobs = [a]\n",
    "main_py": "from parts.init import jobs as more\n"
    + PYTHON_JOB.replace("KEY", "extra").replace("BODY", "pass")
    + "jobs = [*more, extra]\n",
}
PLACES = {"typescript": "jobs/a.ts:2:83", "python": "parts/init.py:6:24"}
SOURCES = {"typescript": TYPESCRIPT, "python": PYTHON}


def repository(folder: Path, language: str, name: str) -> Path:
    return write(folder, **{file: text.replace("NAME", name) for file, text in SOURCES[language].items()})


def wrong_names(folder: Path, *arguments: str) -> list[str]:
    return [each for each in findings(folder, *arguments) if each.endswith("NSP304")]


@pytest.mark.parametrize("language", SOURCES)
def test_a_part_may_start_a_job_of_the_whole(language: str, tmp_path: Path) -> None:
    repository(tmp_path, language, "extra")
    assert wrong_names(tmp_path) == []
    assert wrong_names(tmp_path) == []  # the verdicts are kept ones now


@pytest.mark.parametrize("language", SOURCES)
def test_a_name_that_the_whole_lacks_is_said_once(language: str, tmp_path: Path) -> None:
    repository(tmp_path, language, "extr")
    assert wrong_names(tmp_path) == [f"{PLACES[language]} NSP304"]


@pytest.mark.parametrize("language", SOURCES)
def test_a_part_alone_is_judged_where_the_entry_is_known(language: str, tmp_path: Path) -> None:
    repository(tmp_path, language, "extra")
    entry = {"typescript": "main.ts", "python": "main.py"}[language]
    write(tmp_path, nsplugin_toml=f'entry = "{entry}"\nid = "shop"\n')
    for file in SOURCES[language]:
        folder, _, ending = file.replace("__", "/").rpartition("_")
        assert wrong_names(tmp_path, f"{folder}.{ending}") == [], file


@pytest.mark.parametrize("language", SOURCES)
def test_lists_that_import_each_other(language: str, tmp_path: Path) -> None:
    repository(tmp_path, language, "extr")
    part = {"typescript": "jobs/index.ts", "python": "parts/init.py"}[language]
    back = {"typescript": 'import { jobs as whole } from "../main";\n', "python": "import main\n"}[language]
    (tmp_path / part).write_text(back + (tmp_path / part).read_text())
    assert [each.rpartition(":")[0].partition(":")[0] for each in wrong_names(tmp_path)] == [PLACES[language].partition(":")[0]]


def test_a_plugin_that_only_reads_from_another_does_not_excuse_it(tmp_path: Path) -> None:
    other = LIBRARY + 'import { KEY } from "./index";\nexport const jobs = [defineJob({ key: KEY }, async () => {})];\n'
    job = 'defineJob({ key: "a" }, async ({ jobs }) => { await jobs.enqueue("extra"); })'
    write(tmp_path, index_ts=f'{LIBRARY}export const KEY = "extra";\nexport const jobs = [{job}];\n', other_ts=other)
    assert wrong_names(tmp_path) == ["index.ts:3:87 NSP304"]
