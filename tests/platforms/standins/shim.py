"""Where a pretended tool begins: ``python -m`` by a script of the tool's name on PATH."""

from __future__ import annotations

import fcntl
import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from tests.platforms.standins.inside import run_inside
from tests.platforms.standins.world import Refused, World

Tool = Callable[[World, str, list[str]], str | list[str]]
"""From the words of a command line to what it writes, or to words that it runs inside."""
SCRIPT = """\
#!{python} -IS
import sys
sys.path.insert(0, {root!r})
from tests.platforms.standins.shim import main
sys.exit(main({module!r}, {folder!r}, {name!r}, sys.argv[1:]))
"""


def install(folder: Path, module: str, names: list[str]) -> Path:
    """Writes scripts of these names; the folder to be first on PATH."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(parents=True)
    root = str(Path(__file__).parents[3])
    for name in names:
        fields = {"python": sys.executable, "root": root, "module": module, "folder": str(folder)}
        script = bin_folder / name
        script.write_text(SCRIPT.format(**fields, name=name))
        script.chmod(0o755)
    return bin_folder


def main(module: str, folder: str, name: str, words: list[str]) -> int:
    """One call of a pretended tool; calls come one at a time, as locks make them with real ones."""
    tool: Tool = importlib.import_module(f"tests.platforms.standins.{module}").tool
    with (Path(folder) / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        world = World(Path(folder))
        world.log([name, *words])
        try:
            world.fail_if_told()
            answer = tool(world, name, words)
        except Refused as refused:
            sys.stderr.write(refused.said + "\n")
            return refused.code
        finally:
            world.save()
    if isinstance(answer, str):
        sys.stdout.write(answer)
        return 0
    return run_inside(Path(folder), answer)
