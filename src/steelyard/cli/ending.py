"""How a command ends: the only place where errors are printed and become exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from steelyard.cli.console import print_error, stderr
from steelyard.errors import ExitCode, HostError, SteelyardError

_Parameters = ParamSpec("_Parameters")


def with_exit_code(command: Callable[_Parameters, int | None]) -> Callable[_Parameters, None]:
    """The command, ending with a documented exit code whatever happens in it."""

    @wraps(command)
    def ending(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> None:
        raise typer.Exit(exit_code(lambda: command(*arguments, **options)))

    return ending


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
        print_error(
            HostError(
                "there is not enough memory",
                hint="end other programs, or raise the limit (`ulimit -v`); what was measured is "
                "kept, and `steelyard report` may be made on another machine",
                slug="out-of-memory",
            )
        )
        return ExitCode.OPERATOR
    except Exception:  # noqa: BLE001 - the last net: a defect of ours, said as such
        stderr().print(traceback.format_exc(), markup=False)
        stderr().print(
            "[bold red]error:[/] this is a defect of steelyard; the text above tells where"
        )
        return ExitCode.DEFECT
