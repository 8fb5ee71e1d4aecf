"""What the tool of an instance wrote: kept as it is, then read."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.engine.agent import AgentRefusal
from steelyard.imports.metrics import OutputError, read_metrics
from steelyard.records.missing import Missing, Quoted
from steelyard.records.schema import Measured, Outcome
from steelyard.study.declared import responses as declared
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.workloads.tools.ready import NOT_ASKED, ReadyTool
from steelyard.workloads.tools.timed import RUN_TIME, run_time


def keep_outputs(tool: ReadyTool, instance: Instance) -> None:
    """Keeps what the tool wrote, by source, with why something of it cannot be read."""
    first = instance.ran[0].ran
    streams = {"stdout": (first.stdout, first.stdout_truncated)}
    streams["stderr"] = (first.stderr, first.stderr_truncated)
    for name, (text, truncated) in streams.items():
        instance.outputs[name] = text
        if truncated:
            instance.unread[name] = None
    for name, path in tool.writes.items():
        try:
            instance.outputs[name] = tool.host.read_file(path)
        except AgentRefusal as refusal:
            instance.unread[name] = refusal.failure.message


def measured_by_tool(tool: ReadyTool, instance: Instance) -> dict[str, Measured]:
    """What the tool of an instance measured.

    Raises:
        TrialFailed: its output is not what its file says, or says itself that it is of no use.
    """
    try:
        read = read_metrics(
            tool.entry,
            tool.settings,
            tool.values,
            instance.outputs,
            declared.responses(),
            unread=instance.unread,
        )
    except OutputError as error:
        raise TrialFailed(
            Outcome.OUTPUT_NOT_UNDERSTOOD,
            f"what `{instance.workload.use}`{_version(tool)} printed cannot be parsed: {error}",
            "its output is kept with the trial; `steelyard workload check FILE --output OUTPUT` "
            "shows what is read from it",
        ) from error
    _refuse_useless(tool, instance, [one.missing for one in read.values()])
    return {RUN_TIME: run_time(instance.ran), **read}


def _version(tool: ReadyTool) -> str:
    return "" if tool.version == NOT_ASKED else f" (version {tool.version})"


def _refuse_useless(tool: ReadyTool, instance: Instance, missing: Sequence[Missing | None]) -> None:
    for refusal in tool.entry.refuses:
        if Quoted(kind="tool_reported", said=refusal.because) in missing:
            raise TrialFailed(
                Outcome.COMMAND_FAILED,
                f"nothing of what `{instance.workload.use}` printed is of use: {refusal.because}",
                "its output is kept with the trial and says more",
            )
