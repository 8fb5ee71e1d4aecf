"""How a command ends: the only place where errors are printed and become exit codes."""

from __future__ import annotations

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
