"""A study on several machines: for each of them a study of that one machine.

What is planned, run and judged on a machine is its part of the study, a whole study by itself. The
parts share the error rate and the time in equal shares; what they say together is judged of the
study that holds them all.
"""

from __future__ import annotations

from steelyard.study.model import Study

_SCHEME = "ssh://"


def machine_name(address: str) -> str:
    """What a machine is called: its address without the way to it and without a user."""
    return address.removeprefix(_SCHEME).rpartition("@")[2]


def parts_of(study: Study) -> dict[str, Study]:
    """The part of each machine by its name, in the order of the study; none of a study without,
    and none of a part.
    """
    if study.machine is not None:
        return {}
    return {machine_name(each): _part(study, each) for each in study.machines}


def on_machine(study: Study, machine: str | None) -> Study:
    """The part of one machine; without a name the study itself.

    Raises:
        KeyError: the study has no such machine.
    """
    return study if machine is None else parts_of(study)[machine]


def _part(study: Study, address: str) -> Study:
    trials, count = study.trials, len(study.machines)
    time_s = trials.budget.time_s
    budget = {"time_s": None if time_s is None else time_s / count}
    changed = {
        "alpha": trials.alpha / count,
        "budget": trials.budget.model_copy(update=budget),
    }
    systems = {
        name: system.model_copy(update={"host_machine": address})
        for name, system in study.systems.items()
    }
    return study.model_copy(
        update={
            "machine": machine_name(address),
            "systems": systems,
            "trials": trials.model_copy(update=changed),
        }
    )
