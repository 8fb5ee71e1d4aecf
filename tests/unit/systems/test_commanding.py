"""Words of a platform's file become commands: filled, quoted, spliced; outputs become values."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.study import catalogue
from steelyard.study.model import SystemSpec
from steelyard.study.platform.entry import Commands, Reading, Step
from steelyard.systems.command_line.proofs import judge
from steelyard.systems.command_line.render import Renderer, mark_of, number_of, values_of
from steelyard.systems.command_line.tool import value_in
from steelyard.systems.platform import InstanceContext

LEAST: dict[str, Any] = {
    "exists": {"run": ["look"], "absent": "no", "ours": "^{mark} [(]"},
    "up": [],
    "inside": {"pipe": ["enter"]},
    "down": [],
    "address": {"run": ["where"]},
}


def renderer(values: dict[str, Any], **commands: Any) -> Renderer:
    return Renderer(Commands.model_validate(LEAST | commands), values)


def words(template: list[str], values: dict[str, Any], **commands: Any) -> tuple[str, ...]:
    return renderer(values, **commands).argv(Step(run=template))


def test_a_place_is_filled_and_all_other_braces_stay() -> None:
    template = ["{label}", "{{.Id}}", "{{end}}", "{ label }", "$(x){}"]
    assert words(template, {"label": "a"}) == ("a", "{{.Id}}", "{{end}}", "{ label }", "$(x){}")


def test_a_size_is_written_in_the_unit_that_is_asked_for() -> None:
    assert words(["{memory:MiB}", "{memory:B}b"], {"memory": 3 << 20}) == ("3", "3145728b")


def test_a_size_that_does_not_come_out_even_is_refused() -> None:
    with pytest.raises(SystemFailure, match="not a whole number of MiB") as failure:
        words(["{memory:MiB}"], {"memory": 1_000_000})
    assert failure.value.kind == "not_supported"


def test_words_of_a_setting_are_spliced_or_left_out() -> None:
    setting = {"words": {"cpus": ["--cpus", "{cpus}"]}}
    assert words(["a", "{words.cpus}", "b"], {"cpus": 2}, **setting) == ("a", "--cpus", "2", "b")
    assert words(["a", "{words.cpus}", "b"], {}, **setting) == ("a", "b")


def test_words_of_a_choice_are_those_of_the_choice() -> None:
    setting = {"words": {"nic": {"virtio": ["virtio"], "e1000": ["82540EM"]}}}
    assert words(["type={words.nic}"], {"nic": "e1000"}, **setting) == ("type=82540EM",)


def test_a_value_that_is_not_set_is_a_failure_that_names_it() -> None:
    with pytest.raises(SystemFailure, match=r"no value for \{image\}"):
        words(["{image}"], {"image": None})


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("it's", "'it''s'"),
        ("a\u2019b", "'a\u2019\u2019b'"),
        ("$(evil) `x`", "'$(evil) `x`'"),
        (4096, "4096"),
        (True, "$true"),
    ],
)
def test_a_value_in_powershell_is_a_literal_whatever_it_holds(value: Any, literal: str) -> None:
    far = renderer({"x": value}, shell="powershell", through=["ssh", "win"])  # noqa: S604
    argv = far.argv(Step(script="Show {x} { exit 1 }"))
    assert argv[:3] == ("ssh", "win", "powershell")
    script = base64.b64decode(argv[-1]).decode("utf-16-le")
    assert script.splitlines()[-1] == f"Show {literal} {{ exit 1 }}"
    assert "$ErrorActionPreference = 'Stop'" in script


def test_words_behind_a_shell_far_away_are_one_text_for_it() -> None:
    far = {"shell": "sh", "through": ["ssh", "host"]}
    assert words(["echo", "a b", "$x"], {}, **far) == ("ssh", "host", "echo 'a b' '$x'")


def test_words_for_a_guest_pass_two_shells_whole() -> None:
    inner = {"pipe": ["ssh", "guest"], "quoting": "sh"}
    far = renderer({}, shell="sh", through=["ssh", "host"], inside=inner)  # noqa: S604
    assert far.inside(["run", "a b"]) == ("ssh", "host", "ssh guest 'run '\"'\"'a b'\"'\"''")


def test_a_value_in_xml_is_escaped() -> None:
    step = Step(run=["attach"], stdin="<disk file='{x}'/>", escape="xml")
    call = renderer({"x": "a&<'b"}).call(step, "attach")
    assert call.stdin == "<disk file='a&amp;&lt;&apos;b'/>"


def test_instances_of_one_system_can_have_addresses_of_their_own() -> None:
    settings = {"guest_address": "192.168.1.4{instance}", "memory": 1 << 30}
    spec = SystemSpec(name="a", platform="openvz", settings=settings)
    context = cast(
        "InstanceContext", SimpleNamespace(spec=spec, instance=2, label="a", folder="/f")
    )
    values = values_of(context, catalogue.platform("openvz"))
    assert values["guest_address"] == "192.168.1.42"
    assert values["instance"] == 2


def test_what_is_ours_is_looked_for_literally() -> None:
    assert renderer({"mark": "a.b"}).identity().ours == r"^a\.b [(]"


def test_the_mark_is_the_same_again_and_another_for_another_run() -> None:
    assert mark_of("a", "/one") == mark_of("a", "/one") != mark_of("a", "/two")
    assert 100_000 <= number_of(mark_of("a", "/one")) < 2_147_483_644


@pytest.mark.parametrize(
    ("reading", "output", "value"),
    [
        ({"json": "0.State.Pid"}, '[{"State": {"Pid": 7}}]', "7"),
        ({"json": "a"}, '{"a": "text"}', "text"),
        ({"pattern": "^ip: (.+)$"}, "x: 1\nip: 10.0.0.1\n", "10.0.0.1"),
        ({}, " all of it \n", "all of it"),
    ],
)
def test_a_value_is_read_from_an_output(reading: dict[str, Any], output: str, value: str) -> None:
    assert value_in(output, Reading.model_validate({"run": ["x"]} | reading)) == value


@pytest.mark.parametrize("reading", [{"json": "0.b"}, {"pattern": "nothing (.)"}])
def test_a_value_that_is_not_there_is_a_failure_and_never_empty(reading: dict[str, Any]) -> None:
    with pytest.raises(SystemFailure, match="no value"):
        value_in('[{"a": 1}]', Reading.model_validate({"run": ["x"]} | reading))


@pytest.mark.parametrize(
    ("proof", "before", "after", "said"),
    [
        ({"expect": "changed"}, "1", "1", "is still '1'"),
        ({"expect": "same"}, "1", "2", "was '1' and is '2'"),
        ({"equals": "{mark}"}, "", "2", "is '2', not 'm'"),
    ],
)
def test_a_reset_whose_evidence_is_wrong_is_not_proved(
    proof: dict[str, Any], before: str, after: str, said: str
) -> None:
    given = {"run": ["x"]} | proof
    commands = renderer({"mark": "m"}, reset={"boot": {"steps": [["y"]], "prove": {"id": given}}})
    proofs = commands.commands.reset["boot"].prove
    with pytest.raises(SystemFailure, match=said) as failure:
        judge(proofs, {"id": before}, {"id": after}, commands.text)
    assert failure.value.kind == "reset_not_proved"
