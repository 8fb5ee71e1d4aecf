"""Runs the studies of five published comparisons unattended: ``make studies-full``.

Nothing starts unless all can. Called again it goes on where it broke off. What one study fails at
does not stop the others. In the end all findings are in one archive.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.published import tables
from bench.published.archive import archived
from bench.published.forecast import Forecast, forecast, lacking
from bench.published.listing import Listing, listing
from bench.published.series import Commands, alone, is_finished, measured, run_of

from steelyard.cli.console import print_error
from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import ExitCode, SteelyardError
from steelyard.records.archive import Run

ROOT = Path(__file__).parents[2]


def main(words: Sequence[str] | None = None) -> int:
    """0: all ended; 1: one failed, in part or whole; 3: nothing was started; 130: stopped."""
    options = arguments(words)
    try:
        listed = listing(
            options.list,
            options.studies,
            reduced=options.reduced,
            also=options.also,
            brief=options.brief,
        )
    except KeyError as error:
        print(f"steelyard: {options.list.name} lists no study {error}", file=sys.stderr)
        return ExitCode.STUDY_IS_WRONG
    try:
        return carried_out(options, listed)
    except SteelyardError as error:
        print_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return ExitCode.INTERRUPTED


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.published", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="print the plan, start nothing")
    parser.add_argument("--reduced", action="store_true", help="the small variants")
    parser.add_argument("--brief", action="store_true", help="these, each with a short budget")
    parser.add_argument("--also", nargs="+", default=[], help="studies that need more machines")
    parser.add_argument("--results", type=Path, help="the folder of the runs")
    parser.add_argument("--archive", type=Path, help="the file that is made in the end")
    parser.add_argument("--list", type=Path, default=Path(__file__).with_name("studies.yaml"))
    parser.add_argument("--studies", type=Path, default=ROOT / "studies", help="where they are")
    options = parser.parse_args(words)
    size = "brief" if options.brief else "reduced" if options.reduced else "full"
    brief = "-brief" * options.brief  # runs of the same studies, which are finished too soon
    options.reduced |= options.brief
    options.results = options.results or ROOT / f"results-published{brief}"
    options.archive = options.archive or ROOT / "build" / f"studies-{size}.tar.gz"
    return options


def carried_out(options: argparse.Namespace, listed: Listing) -> int:
    """The plan and the pre-flight; then, if nothing is missing, the runs and their archive."""
    check_version(find_engine())
    planned = [forecast(task) for task in listed.tasks]
    runs = {each.task.name: run_of(each.task, each.study, options.results) for each in planned}
    states = {name: "new" if run is None else run.status for name, run in runs.items()}
    ahead = [each for each in planned if not is_finished(runs[each.task.name])]
    missing = lacking(ahead, options.results, reduced=options.reduced)
    lines = (*tables.plan_lines(listed, planned, states), *tables.lacking_lines(missing))
    print("\n".join(lines), flush=True)
    if options.dry:
        return ExitCode.DONE
    if missing:
        print("steelyard: nothing was started", file=sys.stderr)
        return ExitCode.OPERATOR
    commands = Commands()
    with alone(options.results), commands.listening():
        return _run(planned, options, commands)


def _run(planned: Sequence[Forecast], options: argparse.Namespace, commands: Commands) -> int:
    codes = [measured(each.task, each.study, options.results, commands) for each in planned]
    runs = {each.task.name: run_of(each.task, each.study, options.results) for each in planned}
    done = {name: Run(run.path) for name, run in runs.items() if run and is_finished(run)}
    answers = archived(done, options.archive, commands)
    tasks = [each.task for each in planned]
    print("", *tables.ended_lines(tasks, runs, answers), f"archive: {options.archive}", sep="\n")
    failed = any(codes) or len(answers) < len(tasks)
    return ExitCode.TRIALS_FAILED if failed else ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main())
