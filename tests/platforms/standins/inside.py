"""An agent of a pretended system: the real engine, which sees what the pretended machine shows.

Between controller and agent it replaces what would be read from this machine: the boot id in the
greeting, the folder of block devices, the first process.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def run_inside(folder: Path, words: list[str]) -> int:
    """Runs words as if inside; their exit code."""
    # Few calls come here, and each call of a pretended tool is a process that would load them.
    import subprocess  # noqa: PLC0415
    import threading  # noqa: PLC0415

    if not words[-1].endswith("agent"):
        return subprocess.run(words, check=False).returncode
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        threading.Thread(target=_answers, args=(agent.stdout, folder), daemon=True).start()
        for line in sys.stdin.buffer:
            seen = line.replace(b"/sys/block", str(folder / "block").encode())
            seen = seen.replace(b'"date"', b'"true"')  # the clock here is that of this machine
            agent.stdin.write(seen.replace(b"/proc/1/stat", str(folder / "init_stat").encode()))
            agent.stdin.flush()
        agent.stdin.close()
        return agent.wait()


def _answers(answers: object, folder: Path) -> None:
    for line in answers:  # type: ignore[attr-defined]
        said = json.loads(line)
        if "boot_id" in (said.get("ok") or {}):
            said["ok"]["boot_id"] = (folder / "boot_id").read_text()
            line = json.dumps(said).encode() + b"\n"  # noqa: PLW2901
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
