"""``steelyard trace``: how does this machine vary while nothing changes?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.console import say, shown, tell
from steelyard.errors import ExitCode

if TYPE_CHECKING:
    from steelyard.traces.recording import Recording

KERNEL_NAMES = ("cpu", "memory", "loopback", "disk")
"""Those of ``traces/kernels.py``, which is slow to load."""
_TOLD_EVERY = 500


def trace(
    kernel: Annotated[
        str,
        typer.Option("--kernel", "-k", help=f"What to measure: {', '.join(KERNEL_NAMES)}."),
    ] = "cpu",
    trials: Annotated[int, typer.Option("--trials", "-n", min=1, help="How many.")] = 3000,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, ending in .csv or .csv.gz.  [default: trace-KERNEL.csv.gz]",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Record many short trials of one and the same system: the noise of this machine."""
    from steelyard.hosts.machines import LOCAL, open_machine
    from steelyard.traces.kernels import KERNELS
    from steelyard.traces.recording import Recording

    if kernel not in KERNELS:
        raise typer.BadParameter(f"no kernel {kernel}; there are {', '.join(KERNELS)}")
    path = output or Path(f"trace-{kernel}.csv.gz")
    if not path.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.absolute().parent}")
    with tempfile.TemporaryDirectory(prefix=".steelyard-trace-", dir=path.absolute().parent) as at:
        host = open_machine(LOCAL)
        try:
            return _recorded(Recording(kernel, KERNELS[kernel], host, Path(at)), trials, path)
        finally:
            host.close()


def _recorded(recording: Recording, trials: int, path: Path) -> ExitCode:
    """Records and writes; what an interruption or a failure leaves is written as well."""
    from steelyard.traces.bank import write_bank

    def told(number: int) -> None:
        if number == 1 or number % _TOLD_EVERY == 0:
            tell(f"{number} of {trials} trials")

    code = ExitCode.DONE
    try:
        recording.run(trials, told)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    finally:
        if recording.trials:
            write_bank(path, recording.bank())
            say(f"{len(recording.trials)} trials in {shown(path)}")
    return code
