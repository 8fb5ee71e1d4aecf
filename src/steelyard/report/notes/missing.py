"""Why a value is missing: of a record, of a response in a trial, of a machine at rest."""

from __future__ import annotations

from typing import get_args

from steelyard.judge.analyses.planning.findings import ReferenceKernelFailed, TooFewValues
from steelyard.judge.kinds.not_measured import AttemptFailed, ValueMissing
from steelyard.records.missing import MeterTooCoarse, Missing, MissingKind
from steelyard.report.figures import counted, significant
from steelyard.report.notes.registry import writes

TEXTS = {
    "not_measured": "it was not measured",
    "no_load": "this workload drives no load",
    "no_stream": "this workload is no stream",
    "no_probe": "no probe ran",
    "no_operation_due": "no operation was intended in the window",
    "no_good_answer": "no operation was answered well",
    "good_answers_late": "no operation was answered within the window, only after it",
    "no_payload_checked": "no payload was checked: say `verify: true` where the workload can",
    "payloads_not_in_order": "payloads were not read in the order of sending",
    "ended_by_clock": "the clock ends these trials: say how many operations one has",
    "flow_figure_unknown": "the flows do not tell it",
    "no_bytes": "no byte arrived in the window",
    "no_datagrams": "no datagram was counted in the window",
    "no_agent": "no agent runs on this system that could report it",
    "host_not_sampled": "the host was not sampled: say `sample: {{where: [system, host]}}`",
    "no_separate_host": "the system is its own host, or the host was not sampled",
    "generator_not_sampled": (
        "the generator was not sampled: say `sample: {{where: [system, generator]}}`"
    ),
    "no_network_device": "no network device that the load came through was sampled",
    "cpu_counters_constant": "the kernel's CPU counters stood still",
    "no_energy_counter": "not available here: no energy counter was sampled",
    "energy_counters_constant": "the energy counters stood still",
    "window_length_unknown": "the length of the window is not known",
    "no_battery": "not available here: no battery was sampled",
    "battery_not_discharging": (
        "the battery did not discharge all the while: what one takes in is not what is used"
    ),
    "battery_reads_zero": "the battery tells 0 W while it discharges",
    "not_printed": "the tool did not print it",
    "zero_printed": "the tool printed 0",
    "divisor_zero": "what it is divided by is 0",
    "no_event": "the event did not happen",
    "calibration_off": "the study says `calibrate: false`",
    "calibrates_itself": (
        "the service is the server that a calibration would use, on the generator's machine"
    ),
    "calibration_timed_out": "the run did not end in its time",
    "sampler_reported": "{said}",
    "sensor_refused": "not available here: {said}",
    "probe_refused": "{said}",
    "reference_kernel_refused": "{said}",
    "tool_reported": "{said}",
    "flow_broken": "a flow broke: {said}",
    "calibration_failed": "{said}",
    "told_by_version_1": "{said}",
    "column_not_sampled": "{column} was not sampled",
    "column_not_reported": "the kernel does not tell {column}",
    "too_few_samples": "{samples} samples in the window, {needed} are needed",
    "too_few_times": "fewer than the {needed:,} samples that {figure} needs (ten above it)",
    "failed_beyond": ("{failed_share:.2%} of the operations failed, and a failed one never ended"),
    "turned_away": (
        "clients were turned away {times:,} times while they had no operation, which is in no "
        "share of operations; let each operation have a connection of its own"
    ),
    "meter_silent": "the meter did not answer for {gap_s:.1f} s: {said}",
    "meter_late": "the meter was late: no reading of it for {gap_s:.1f} s",
    "meter_unreadable": "for {gap_s:.1f} s the meter told no number, but: {said}",
    "meter_negative": "for {gap_s:.1f} s the meter told less than nothing: {said}",
    "meter_other_unit": "for {gap_s:.1f} s the meter told another unit: {said}",
    "meter_stale": "for {gap_s:.1f} s the meter told one and the same reading: that of {said}",
    "meter_fell": (
        "the counter of the meter fell during the window, from {before_j:g} J to {after_j:g} J"
    ),
    "meter_too_coarse": "the meter {how} for this window: {energy_j} J, within {within_j} J",
    "response_unknown": "nothing here measures {name}",
    "part_unknown": "none of the operations that were answered well has a {name}",
    "figure_unknown": "{name} is no figure of a latency distribution",
    "no_disk_request": "no {request} ended in the window",
    "disk_time_too_short": (
        "all {request} requests took less than {least_ms:g} ms together, counted in steps of 1 ms"
    ),
    "more_than_processors": (
        "the kernel counted {cores:.1f} cores of CPU time where there are {processors}: its "
        "clock or its counters are wrong"
    ),
    "not_measured_with": "not measured with {settings}",
    "too_few_printed": "fewer than the {needed:,.0f} {of} that this needs",
    "late_before": (
        "late before the event, too, in {share:.0%} of the time: allow a longer `late`"
    ),
    "not_recovered": (
        "not as before when the window ended, {after_ms:,.0f} ms after the start of the event"
    ),
    "of_instance": "instance {instance}: {missing}",
    "no_server_for_workload": "the engine has no server of its own for `{workload}`",
    "limit_not_known": "at {load:g} it cannot be determined: {limit}: {missing}",
    "no_load_held_twice": "no load held twice in {runs} runs",
    "limits_held_up_to": "the limits hold up to {load:g}, the largest that is tried",
    "limits_broken_down_to": "the limits do not hold even at {load:g}",
}


def missing_text(note: MissingKind) -> str:
    """The reason, without a full stop."""
    if isinstance(note, MeterTooCoarse):
        return _too_coarse(note)
    figures = {
        name: missing_text(value) if isinstance(value, MissingKind) else value
        for name, value in note
    }
    return TEXTS[note.kind].format_map(figures)


def _too_coarse(note: MeterTooCoarse) -> str:
    """One that told no energy at all may as well measure another machine."""
    energy, within = significant(note.energy_j), significant(note.within_j)
    how = "is too coarse" if note.energy_j else "measures another machine or is too coarse"
    return TEXTS[note.kind].format(how=how, energy_j=energy, within_j=within)


for _kind in get_args(get_args(Missing.__value__)[0]):
    writes(_kind)(missing_text)


@writes(AttemptFailed)
def _attempt_failed(note: AttemptFailed) -> str:
    outcome = note.outcome.replace("_", " ")
    return f"trial {note.trial}, attempt {note.attempt}: {outcome}"


@writes(ValueMissing)
def _value_missing(note: ValueMissing) -> str:
    return "not recorded" if note.reason is None else missing_text(note.reason)


@writes(ReferenceKernelFailed)
def _reference_kernel_failed(note: ReferenceKernelFailed) -> str:
    return missing_text(note.reason)


@writes(TooFewValues)
def _too_few_values(note: TooFewValues) -> str:
    return f"{counted(note.values, 'value')}, at least {note.needed} are needed"
