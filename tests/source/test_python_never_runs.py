"""Reading never runs a line of what is read (spec/cli.md lint)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nsplugin_cli.source.python import read_python
from nsplugin_cli.source.python_imports import Repository

PLUGIN = "\nfrom nsplugin import Job, define_plugin\ndef f(ctx): ...\nplugin = define_plugin(id='a', jobs={'x': Job(f)})\n"
DEEDS = {
    "writes": "import pathlib\npathlib.Path(__file__).with_name('marker').write_text('ran')",
    "deletes": "import os\nos.remove(__file__)",
    "exits": "import sys\nsys.exit(3)",
    "exits hard": "import os\nos._exit(4)",
    "raises": "raise SystemExit(5)",
    "hangs": "while True: pass",
    "hangs in a default": "def g(x=[None for _ in iter(int, 1)]): pass",
    "decorates": "def d(f): open('marker', 'w').write('ran'); return f\n@d\ndef g(): ...",
    "subclasses": "class M(type):\n  def __new__(*a): open('marker', 'w')\nclass A(metaclass=M): ...",
    "imports": "import evil",
    "imports from": "from evil import *",
    "imports relatively": "from . import evil",
    "evaluates": "ID = eval(\"open('marker', 'w').write('ran')\")",
    "formats": "class A:\n  def __format__(self, spec): open('marker', 'w')\nX = f'{A()}'",
    "compares": "class A:\n  def __eq__(self, other): open('marker', 'w')\nX = A() == 1",
    "annotates": "x: open('marker', 'w') = 1",
    "in its id": "from nsplugin import define_plugin\nplugin = define_plugin(id=open('marker', 'w').write('ran'))",
    "in a handler": "from nsplugin import Job, define_plugin\n"
    "plugin = define_plugin(jobs={'a': Job((lambda: open('marker', 'w'))())})",
}


@pytest.mark.parametrize("deed", [pytest.param(deed, id=name) for name, deed in DEEDS.items()])
def test_a_file_that_does_things_when_it_runs_is_only_read(deed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evil.py").write_text("open('marker', 'w').write('ran')\n")
    source = (deed + PLUGIN).encode()
    path = tmp_path / "plugin.py"
    path.write_bytes(source)
    modules = set(sys.modules)
    found = read_python(source, str(path), Repository(tmp_path))
    assert found.unreadable is None and len(found.definitions) >= 1
    assert {file.name for file in tmp_path.iterdir()} == {"evil.py", "plugin.py"}
    assert "evil" not in sys.modules and "plugin" not in set(sys.modules) - modules


def test_the_reader_imports_no_library_that_an_author_validates_with() -> None:
    """Models are read from source: pydantic stays out, and so does everything slow to start (start-up budget)."""
    code = (
        "import sys; from nsplugin_cli.source.python import read_python;"
        "read_python(b'from pydantic import BaseModel\\nfrom nsplugin import *\\nclass M(BaseModel):\\n  a: int\\n"
        "def f(payload): ...\\nplugin = define_plugin(jobs={\"a\": Job(f, payload=M)})', 'a.py');"
        "print(sorted({'pydantic', 'jsonschema', 'rich', 'asyncio', 'croniter'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
