"""How a command ends: the only place where errors are printed and become exit codes."""

from __future__ import annotations

import errno
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from steelyard.cli.console import Telling, print_error, stderr
from steelyard.errors import ExitCode, HostError, SteelyardError

_OF_THE_MACHINE = {
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOSPC,
    errno.EROFS,
    errno.ESTALE,
}
"""What a disk, or a limit, can refuse at any call."""

QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing on stderr but errors.")
]


def with_exit_code(command: Callable[..., int | None]) -> Callable[..., None]:
    """The command with ``--quiet``, ending with a documented exit code whatever happens in it."""

    def ending(*arguments: Any, **options: Any) -> None:
        raise typer.Exit(exit_code(lambda: command(*arguments, **options)))

    return with_quiet(wraps(command)(ending))


def with_quiet(command: Callable[..., None]) -> Callable[..., None]:
    """The command with one option more."""
    own = inspect.signature(command, eval_str=True)
    more = inspect.Parameter(
        "quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=QuietOption
    )

    @wraps(command)
    def quieted(*arguments: Any, quiet: bool = False, **options: Any) -> None:
        Telling.quiet = quiet
        command(*arguments, **options)

    parameters = [*own.parameters.values(), more]
    quieted.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    quieted.__annotations__ = {each.name: each.annotation for each in parameters}
    return quieted


def exit_code(command: Callable[[], int | None]) -> int:
    """Runs ``command``; its own code, or that of its error, which is printed."""
    try:
        return command() or ExitCode.DONE
    except SteelyardError as error:
        print_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone: not a failure of ours, and nothing more to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except (typer.BadParameter, typer.Exit):
        raise
    except MemoryError:
        print_error(_no_memory())
        return ExitCode.OPERATOR
    except Exception as error:  # noqa: BLE001 - the last net
        return _unforeseen(error)


def _unforeseen(error: Exception) -> ExitCode:
    """A disk may refuse any call; everything else is a defect of ours, said as such."""
    if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
        print_error(_disk_refuses(error))
        return ExitCode.OPERATOR
    stderr().print("".join(traceback.format_exception(error)), markup=False)
    stderr().print("[bold red]error:[/] this is a defect of steelyard; the text above tells where")
    return ExitCode.DEFECT


def _no_memory() -> HostError:
    return HostError(
        "there is not enough memory",
        hint="end other programs, or raise the limit (`ulimit -v`); what was measured is "
        "kept, and `steelyard report` may be made on another machine",
        slug="out-of-memory",
    )


def _disk_refuses(error: OSError) -> HostError:
    what = error.filename if isinstance(error.filename, str) else "a file"
    return HostError(
        f"cannot read or write {what}: {error.strerror}",
        hint="repair the disk, make room or raise the limit, then run the command again; what was "
        "measured is kept",
        slug="file-cannot-be-used",
    )
