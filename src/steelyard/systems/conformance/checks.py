"""The promises of a platform, one function each, in the words that a user sees.

Each brings the system up itself, so that they hold in any order. What it returns is shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import steelyard
from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems.conformance.bench import DISK_BYTES, Bench
from steelyard.systems.conformance.finding import NotApplicable, expect
from steelyard.systems.conformance.remains import traces
from steelyard.systems.conformance.resets import reset_checks
from steelyard.systems.platform import RawDisk

Check = Callable[[Bench], str]
_OPERATIONS = 50
_SINK = "steelyard-contract-sink"
_NO_SUCH_TOOL = "not_found"


def comes_up(bench: Bench) -> str:
    place = bench.place()
    place.up()
    return f"{place.host().name}, and a second `up` does nothing"


def agent_answers(bench: Bench) -> str:
    host = bench.place().host()
    first, second = host.clock().monotonic_ns, host.clock().monotonic_ns
    expect(second >= first, f"its clock went back from {first} to {second} ns")
    return f"as process {host.agent_pid}"


def engine_is_ours(bench: Bench) -> str:
    """The same version, and the same bytes as on the host."""
    host = bench.place().host()
    version = host.engine_version
    expect(version == steelyard.__version__, f"inside it is version {version}")
    here = _sha256(bench.host_machine(), bench.host_machine().engine)
    inside = _sha256_inside(bench, host)
    expect(here == inside, f"sha256 is {here} outside and {inside} inside")
    return f"version {version}, sha256 {here[:12]}"


def programs_run(bench: Bench) -> str:
    host = bench.place().host()
    good = host.run(["@engine", "--version"], timeout_s=20)
    expect(good.exit_code == 0, f"the engine ends with {good.exit_code}: {good.stderr}")
    bad = host.run(["@engine", "no-such-mode"], timeout_s=20)
    expect(bad.exit_code not in (0, None), f"a program that fails ends with {bad.exit_code}")
    return good.stdout.strip()


def files_are_kept(bench: Bench) -> str:
    place = bench.place()
    host, folder = place.host(), place.folder()
    text = "kept: \N{LATIN SMALL LETTER E WITH ACUTE}\n"
    host.make_directory(f"{folder}/contract/deep")
    host.write_file(f"{folder}/contract/deep/file", text, create=True)
    read = host.read_file(f"{folder}/contract/deep/file")
    expect(read == text, f"{text!r} was written, {read!r} read")
    host.remove_tree(f"{folder}/contract")
    expect(not host.path_facts(f"{folder}/contract").exists, "a removed folder is still there")
    return f"in {folder}"


def service_is_reached(bench: Bench) -> str:
    """From the generator's side, at the address that the platform gives."""
    place = bench.place()
    host, address = place.host(), place.address()
    argv = ["@engine", "sink", "http", "--listen", f"{address}:0"]
    started = host.start(_SINK, argv, directory=place.folder(), ready_timeout_s=20)
    try:
        listening = json.loads(started.ready_line or "{}")["listening"]
        words = ["@engine", "load", f"http://{listening}/", "-c", "2", "-n", str(_OPERATIONS)]
        ran = bench.generator().run([*words, "--json"], timeout_s=60)
        expect(ran.exit_code == 0, f"the load ends with {ran.exit_code}: {ran.stderr[-300:]}")
        good = json.loads(ran.stdout)["counts"]["ok"]
        expect(good == _OPERATIONS, f"{good} of {_OPERATIONS} requests were answered")
    finally:
        host.stop(_SINK, grace_s=2)
    return f"{good} requests to {listening}"


def disk_comes_and_goes(bench: Bench) -> str:
    """Empty, of the size asked, while the system runs."""
    place = bench.place()
    try:
        attached = place.attach(RawDisk("contract-1", DISK_BYTES))
    except SystemFailure as failure:
        if failure.kind == "not_supported":
            raise NotApplicable(failure.message) from failure
        raise
    try:
        facts = place.host().path_facts(attached.device)
        expect(facts.exists, f"{attached.device} is not there inside")
        size_bytes = _device_bytes(place.host(), attached.device)
        expect(size_bytes == DISK_BYTES, f"it has {size_bytes} bytes, asked were {DISK_BYTES}")
    finally:
        place.detach(attached)
    left = _device_bytes(place.host(), attached.device)
    expect(left in (0, None), f"after `detach` {attached.device} still has {left} bytes")
    return f"as {attached.device}"


def costs_exist(bench: Bench) -> str:
    costs = bench.place().costs()
    host_machine = bench.host_machine()
    for name, pid in costs.processes.items():
        expect(host_machine.path_facts(f"/proc/{pid}").exists, f"{name}: no process {pid}")
    for name, threads in costs.threads.items():
        for thread in threads.ids:
            path = f"/proc/{threads.process}/task/{thread}"
            expect(host_machine.path_facts(path).exists, f"{name}: no thread {path}")
    for name, folder in costs.cgroups.items():
        expect(host_machine.path_facts(folder).exists, f"{name}: no cgroup {folder}")
    kinds = (
        ("process", *costs.processes),
        ("threads", *costs.threads),
        ("control group", *costs.cgroups),
    )
    told = [f"{kind} {name}" for kind, *names in kinds for name in names]
    if not told:
        raise NotApplicable("inside and outside are the same machine, or it is not known here")
    return ", ".join(told)


def facts_are_reported(bench: Bench) -> str:
    facts = bench.place().facts()
    empty = [name for name, value in facts.items() if value == ""]
    expect(not empty, f"empty instead of not told: {', '.join(empty)}")
    return ", ".join(f"{name} {value}" for name, value in facts.items()) or "none of its own"


def lost_agent_is_reopened(bench: Bench) -> str:
    place = bench.place()
    before = place.host()
    before.kill()
    expect(before.lost, "the agent's pipe was killed, and it does not know")
    after = place.host()
    after.clock()
    return f"{after.name} answers again"


def deadline_ends_a_run(bench: Bench) -> str:
    host = bench.place().host()
    ran = host.run(["@engine", "sink", "http", "--listen", "127.0.0.1:0"], timeout_s=1)
    expect(ran.timed_out, f"a program that does not end was not ended: {ran.exit_code}")
    host.clock()
    return "a program that does not end is killed, and the agent answers"


def taken_name_is_refused(bench: Bench) -> str:
    """And what bears it is left alone."""
    place = bench.place()
    if not place.costs().processes:
        raise NotApplicable("it makes nothing that has a name")
    rival = bench.rival()
    try:
        rival.up()
    except SystemFailure as failure:
        expect(failure.kind == "name_taken", f"it is refused as {failure.kind}: {failure}")
    else:
        expect(False, "a second run took over what the first had made")
    finally:
        rival.down()
    place.host().clock()
    return "the first still answers"


def down_leaves_nothing(bench: Bench) -> str:
    """Compares what bears the name of the run before and after; the ledger, too."""
    bench.place()
    during = traces(bench.host_machine(), bench.run)
    bench.down()
    left = traces(bench.host_machine(), bench.run)
    expect(not left, f"left over: {', '.join(left)}")
    pending = [str(entry.inverse) for entry in bench.undo.pending() if not entry.inside]
    made = [words for words in pending if not words.startswith("remove the folder")]
    expect(not made, f"still in the ledger: {', '.join(made)}")
    return f"{len(during)} things bore the run's name before, none after"


def comes_up_again(bench: Bench) -> str:
    bench.place()
    bench.down()
    return agent_answers(bench)


CHECKS: dict[str, Check] = {
    "up": comes_up,
    "agent": agent_answers,
    "engine": engine_is_ours,
    "run": programs_run,
    "files": files_are_kept,
    **reset_checks(),
    "service": service_is_reached,
    "disk": disk_comes_and_goes,
    "costs": costs_exist,
    "facts": facts_are_reported,
    "lost agent": lost_agent_is_reopened,
    "deadline": deadline_ends_a_run,
    "taken name": taken_name_is_refused,
    "down": down_leaves_nothing,
    "up again": comes_up_again,
}
"""By the name that each line begins with, in the order of a sitting."""


def _sha256(host: Host, path: str) -> str:
    ran = host.run(["sha256sum", path], timeout_s=60)
    expect(ran.exit_code == 0, f"sha256sum of {path}: {ran.stderr}")
    return ran.stdout.split()[0]


def _sha256_inside(bench: Bench, host: Host) -> str:
    """Of the engine inside; looked at from the host where the image has no ``sha256sum``."""
    try:
        return _sha256(host, host.engine)
    except AgentRefusal as refusal:
        if refusal.failure.kind != _NO_SUCH_TOOL:
            raise
    for pid in bench.place().costs().processes.values():
        return _sha256(bench.host_machine(), f"/proc/{pid}/root{host.engine}")
    raise NotApplicable("nothing inside computes a sha256, and it cannot be seen from outside")


def _device_bytes(host: Host, device: str) -> int | None:
    """Size of a block device as the kernel has it; ``None`` where there is none."""
    file = f"/sys/class/block/{device.rpartition('/')[2]}/size"
    if not host.path_facts(file).exists:
        return None
    return int(host.read_file(file)) * 512
