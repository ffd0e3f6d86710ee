"""JavaScript's own JSON, as a witness: values go to node and come back as the text that ``JSON.stringify`` makes of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

NODE = shutil.which("node")

_PROGRAM = """
const lines = require("fs").readFileSync(0, "utf8").split("\\n").filter(Boolean);
for (const line of lines) {
  const value = JSON.parse(line);
  process.stdout.write(JSON.stringify([JSON.stringify(value), JSON.stringify(value, null, 2)]) + "\\n");
}
"""


def stringified(values: list[Any]) -> list[tuple[str, str]]:
    """The compact and the indented ``JSON.stringify`` form of each value, in one run of node."""
    assert NODE is not None
    lines = "\n".join(json.dumps(value) for value in values)
    done = subprocess.run([NODE, "-e", _PROGRAM], input=lines, capture_output=True, text=True, check=True, timeout=60)
    return [tuple(json.loads(line)) for line in done.stdout.split("\n") if line]
