"""`clients` of one of several workloads are its users, and leave the others alone."""

from __future__ import annotations

from pathlib import Path

from steelyard.study.read import read_study
from steelyard.study.workload_study import conditions_of

STUDY = """\
study: two
question: Are the clients of one workload its own?
systems: {a: {platform: native}, b: {platform: native}}
workloads:
  one:  {use: ftp, do: login, service: sink-ftp}
  many: {use: ftp, do: download, clients: [10, 40], service: sink-ftp}
trials: {margin: 5 %}
"""


def test_the_clients_of_a_workload_are_its_users_and_no_other_ones(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    study = read_study(file)
    users = [(each["workload"], each["load.users"]) for each in conditions_of(study)]
    assert users == [("one", 1), ("many", 10), ("many", 40)]
    assert all(set(each) == {"workload", "load.users"} for each in conditions_of(study))
