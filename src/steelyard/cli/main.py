"""The command line: one table of commands."""

from __future__ import annotations

from typing import Annotated

import typer

import steelyard
from steelyard.cli.loading import Entry, table

_PASS_ON = {
    "context_settings": {
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],
    },
    "add_help_option": False,
}
_SHORT = "Without a file"
_STUDY = "A study"
_READ = "What was measured"
_MACHINE = "This machine"
_ENGINE = "The load engine alone"
_CATALOGUE = "What a study can use"

COMMANDS = {
    "time": Entry(
        "timing.time:time",
        "Time commands against each other: `steelyard time 'A' 'B'`; no file is needed.",
        _SHORT,
        ("steelyard time 'sort -n big.txt' 'sort --parallel=1 -n big.txt'",
         "steelyard time 'gzip -{level} -k -f big.txt' --parameter-list level=1,6,9",
         "steelyard time './old' './new' --margin 1% --budget 2min --fail-if slower"),
        "cli.timing.outcome",
    ),
    "versus": Entry(
        "timing.versus:versus",
        "Load servers that run already against each other: `steelyard versus URL URL -c 16`.",
        _SHORT,
        ("steelyard versus http://127.0.0.1:8080/ http://127.0.0.1:8081/ -c 16",
         "steelyard versus smtp://HOST:25 smtp://HOST:2525 --response latency_p99"),
        "cli.timing.outcome",
    ),
    "bisect": Entry(
        "timing.bisect:bisect",
        "Find the commit, kernel or version that changed what a command takes.",
        _SHORT,
        ("steelyard bisect --levels 1.0,1.1,1.2,1.3 './prog-{level} big.txt'",
         "steelyard bisect --git v1.0..HEAD --setup 'make -C {folder}' '{folder}/prog big.txt'",
         "steelyard bisect --levels 2.0,2.1,3.0 --setup './install {level}' './bench {level}'"),
        "cli.timing.bisecting",
    ),
    "tune": Entry(
        "timing.tune:tune",
        "Find the best of many values of parameters for a command.",
        _SHORT,
        ("steelyard tune './bench --threads {n}' -L n=$(seq -s , 1 64) --baseline 8",
         "steelyard tune './bench' --profiles /etc/tuned --prepare 'tuned-adm profile {profile}'",
         "steelyard tune './bench {a} {b}' --candidates ab.csv --margin 5% --budget 20min"),
        "cli.timing.tuning",
    ),
    "init": Entry(
        "planning.init:init",
        "Write a commented study that runs as it is: of mail, web, disk or command.",
        _STUDY,
        ("steelyard init my-study", "steelyard init web my-study", "steelyard init command"),
    ),
    "plan": Entry(
        "planning.plan:plan",
        "Show cells, order and forecast of a study; without --timed it starts nothing.",
        _STUDY,
        (
            "steelyard plan my-study",
            "steelyard plan my-study --timed",
            "steelyard plan my-study --changes",
        ),
        "plan.make",
    ),
    "run": Entry(
        "session.run:run", "Run a study to its verdict and write the report.", _STUDY,
        ("steelyard run my-study",
         "steelyard run my-study --fail-if contradicted --format md,junit --quiet"),
        "cli.session.measure",
    ),
    "resume": Entry(
        "session.run:resume",
        "Go on with a run that was interrupted; no finished trial is lost or repeated.",
        _STUDY,
        ("steelyard resume results/my-study", "steelyard resume results/my-study --extend"),
        "cli.session.measure",
    ),
    "submit": Entry(
        "queue.submit:submit",
        "Put a run on the queue of a laboratory (Slurm), once; nothing is started twice.",
        _STUDY,
        ("steelyard submit my-study --constraint epyc",
         "steelyard submit my-study --nodelist 'n[1-4]' --each-node",
         "steelyard submit --resume results/my-study/RUN"),
        "cli.queue.submission",
    ),
    "gate": Entry(
        "pipeline.gate:gate",
        "Measure a change against its base, both built here; slower or contradicted: exit code 5.",
        _STUDY,
        ("steelyard gate perf/gate --base origin/main --build make",
         "steelyard gate perf/gate --base origin/main --build make --budget 10min --comment"),
        "cli.session.measure",
    ),
    "restore": Entry(
        "session.restore:restore",
        "Undo every change that interrupted runs left on a machine.",
        _STUDY,
        ("steelyard restore results/my-study", "steelyard restore --all --dry-run"),
    ),
    "report": Entry(
        "archive.report:report", "Write the report of a run again and print its verdicts.", _READ,
        ("steelyard report results/my-study --format html,pdf",
         "steelyard report findings.json --to report"),
        "cli.archive.reading",
    ),
    "comment": Entry(
        "pipeline.comment:comment",
        "Comment on a pull request at GitHub or GitLab; a later run edits the same comment.",
        _READ,
        ("steelyard comment results/my-study", "steelyard comment results/my-study --dry-run"),
        "cli.archive.reading",
    ),
    "compare": Entry(
        "archive.report:compare",
        "Put the verdicts of two runs side by side; says where they agree and what differs.",
        _READ,
        ("steelyard compare results/my-study/RUN results/my-study/RUN",),
        "cli.archive.reading",
    ),
    "publish": Entry(
        "archive.publication:publish",
        "Put a run into a folder for others, with all that its findings rest on.",
        _READ,
        ("steelyard publish results/my-study --to my-study-published",),
        "cli.archive.reading",
    ),
    "verify": Entry(
        "archive.publication:verify",
        "Check digests, statement, commitment and records, and run the judge again.",
        _READ,
        ("steelyard verify my-study-published",
         "steelyard verify my-study-published --commitment DIGEST --json"),
        "cli.archive.reading",
    ),
    "history": Entry(
        "archive.history:history",
        "Show releases as a chain of ratios, each measured in one run, and name the slower ones.",
        _READ,
        ("steelyard history results/gate", "steelyard history results/gate --json"),
        "cli.archive.reading",
    ),
    "serve": Entry(
        "archive.serve:serve",
        "Show runs, reports, pairs, histories and live runs in a browser, until Ctrl-C.",
        _READ,
        ("steelyard serve results",),
        "web.server",
    ),
    "runs": Entry(
        "runs.command:app",
        "List runs with their state, verdicts and size on disk; `runs delete` makes room.",
        _READ,
        ("steelyard runs --study my-study --sort size",
         "steelyard runs --older '30 d' --state decided --json",
         "steelyard runs delete my-study/2026-11-23T19-36-28Z",
         "steelyard runs delete my-study/2026-11-23T19-36-28Z --all --yes",
         "steelyard runs cancel my-study/2026-11-23T19-36-28Z"),
    ),
    "query": Entry(
        "archive.query:query",
        "Ask the records of many runs in SQL; nothing is changed.",
        _READ,
        ("steelyard query 'SELECT study, count(*) FROM trials GROUP BY study'",
         "steelyard query 'SELECT * FROM verdicts' ours=results theirs=/mnt/lab/results --json"),
        "query.archive",
    ),
    "compact": Entry(
        "archive.compact:compact",
        "Pack the folders of a run's attempts into a few files, byte for byte.",
        _READ,
        ("steelyard compact results/my-study/RUN",),
        "records.compaction",
    ),
    "judge": Entry(
        "own_numbers.judge:judge",
        "Judge trials that were measured elsewhere, as a study would be judged.",
        _READ,
        ("steelyard judge trials.csv --baseline old --margin 2%",),
        "cli.own_numbers.own_trials",
    ),
    "check": Entry(
        "own_numbers.check:check",
        "Check whether published measurements agree with each other, and conclusions with them.",
        _READ,
        ("steelyard check published.csv --claims claims.csv",),
        "consistency.check",
    ),
    "import": Entry(
        "own_numbers.importing:import_",
        "Read files of other tools (ab, wrk, hyperfine ...) into a run, and judge what they allow.",
        _READ,
        ("steelyard import hyperfine times.json --as system=gzip,zstd",
         "steelyard import ab old-*.txt new-*.txt --as system=old,new"),
        "cli.own_numbers.imported",
    ),
    "doctor": Entry(
        "doctor.command:doctor",
        "Check whether this machine can measure, and name what would disturb it.",
        _MACHINE,
        (
            "steelyard doctor --margin 2%",
            "steelyard doctor my-study",
            "steelyard doctor --fix",
        ),
        "cli.doctor.examination",
    ),
    "trace": Entry(
        "trace:trace",
        "Record many short trials of one and the same system: the noise of this machine.",
        _MACHINE,
        ("steelyard trace --kernel cpu",),
        "traces.recording",
    ),
    "load": Entry(
        "engine:load",
        "Drive load at a server: "
        "`steelyard load http://HOST:PORT/ -c 64 -d 5s [-R RATE] [--json]`.",
        _ENGINE,
        settings=_PASS_ON,
    ),
    "sink": Entry(
        "engine:sink",
        "Serve as a target: `steelyard sink http --listen 127.0.0.1:8080`, also `sink smtp`.",
        _ENGINE,
        settings=_PASS_ON,
    ),
    "kernel": Entry(
        "engine:kernel",
        "Measure the machine alone: `steelyard kernel linpack`, `kernel ram`, `kernel reference`.",
        _ENGINE,
        settings=_PASS_ON,
    ),
    "image": Entry(
        "catalogue.image:images",
        "Build the images that virtual machines and containers start from.",
        _CATALOGUE,
        ("steelyard image list", "steelyard image build debian-mail --kind container"),
    ),
    "platform": Entry(
        "catalogue.platform:app",
        "Platforms: list them, show their files, check one of your own.",
        _CATALOGUE,
        ("steelyard platform list", "steelyard platform check nested.yaml"),
    ),
    "service": Entry(
        "catalogue.service:app",
        "List the servers a study can put under test, show one, check a file of your own.",
        _CATALOGUE,
        ("steelyard service list", "steelyard service show nginx"),
    ),
    "workload": Entry(
        "catalogue.workload:app",
        "List what a study can drive, show one, check a file of your own.",
        _CATALOGUE,
        ("steelyard workload list", "steelyard workload show fio"),
    ),
    "schema": Entry(
        "schema:schema",
        "Print the JSON schema of a kind of file: what editors complete and check by.",
        _CATALOGUE,
        ("steelyard schema", "steelyard schema study > schemas/study.schema.json"),
    ),
    "support": Entry(
        "catalogue.support:support",
        "List what published comparisons used, and what of it was run here, when and where.",
        _CATALOGUE,
        ("steelyard support", "steelyard support --json"),
    ),
}  # fmt: skip

app = table(
    COMMANDS,
    name="steelyard",
    help="Compare systems: one study file, randomised trials, a verdict that holds.",
    epilog="Start with `steelyard time 'A' 'B'`, or with `steelyard init`, then `steelyard plan "
    "study.yaml`, then `steelyard run`. `steelyard COMMAND --help` ends with examples.",
    no_args_is_help=True,
    add_completion=True,
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"steelyard {steelyard.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass
