"""Containers of the real Podman, beyond what every platform promises."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.platforms.needs import need
from tests.platforms.sshd import ADDRESS, Sshd
from tests.unit.trial.tool_bench import Bench

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.locate import find_engine
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.ssh import open_ssh
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import SystemSpec
from steelyard.systems.platform import InstanceContext, RawDisk
from steelyard.systems.podman.platform import Podman

MIB = 1 << 20
Make = Callable[..., Podman]


def told(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def make(host_machine: Host, undo: UndoLog, name: str, tmp_path: Path) -> Iterator[Make]:
    """A container by its settings; all are taken down at the end."""
    need("podman", root=True)
    made: list[Podman] = []

    def container(number: int = 1, at: Host | None = None, **settings: object) -> Podman:
        host = at or host_machine
        folder = str(tmp_path / f"context-{number}")
        Path(folder).mkdir(exist_ok=True)
        disks = settings.pop("disks", {})
        spec = SystemSpec(
            name="a", platform="podman", settings={"network": "host", **settings}, disks=disks
        )
        label = f"{name}-a-{number}"
        made.append(Podman(InstanceContext(spec, number, label, lambda: host, undo, folder)))
        return made[-1]

    yield container
    for place in made:
        place.down()
    left = told("podman", "ps", "--all", "--format={{.Names}}") + told("podman", "images")
    assert name not in left


def tar_of(path: Path, **files: bytes) -> Path:
    with tarfile.open(path, "w") as tar:
        for file, content in files.items():
            entry = tarfile.TarInfo(file)
            entry.size = len(content)
            entry.mode = 0o755
            tar.addfile(entry, io.BytesIO(content))
    return path


def test_an_image_from_a_tar_holds_its_files_and_goes_with_the_last_instance(
    make: Make, tmp_path: Path
) -> None:
    tar = tar_of(tmp_path / "root.tar", greeting=b"hello\n")
    one, two = make(1, image=str(tar)), make(2, image=str(tar))
    one.up()
    two.up()
    assert two.host().read_file("/greeting") == "hello\n"
    assert one.facts()["image.id"] == two.facts()["image.id"]
    one.down()
    assert two.host().read_file("/greeting") == "hello\n"


def test_an_image_that_podman_has_is_used_as_it_is_and_stays(make: Make, tmp_path: Path) -> None:
    tar = tar_of(tmp_path / "root.tar", greeting=b"mine\n")
    mine = f"localhost/{tmp_path.name.lower()}:latest"
    told("podman", "import", "--quiet", str(tar), mine)
    try:
        place = make(image=mine)
        place.up()
        assert place.host().read_file("/greeting") == "mine\n"
        place.down()
        told("podman", "image", "exists", mine)
    finally:
        told("podman", "rmi", mine)


def test_a_tool_of_the_image_runs_inside_and_is_read(make: Make, tmp_path: Path) -> None:
    place = make(image="debian-bench")
    try:
        place.up()
    except SystemFailure as failure:
        if failure.kind == "image_missing":
            pytest.skip("steelyard image build debian-bench has not run")
        raise
    bench = Bench(place.host(), Path("/var/tmp"))
    small = {"size": 1 << 20, "direct": False}
    measured = bench.measured("fio", small, window=0.1, warmup=0, device=None)
    assert measured["fio.iops"].value
    bench.clean()
    with pytest.raises(SystemFailure, match="compile needs make, gcc"):
        bench.measured("compile")


def test_an_image_that_is_not_there_is_never_fetched(make: Make) -> None:
    with pytest.raises(SystemFailure, match="podman pull localhost/nowhere") as refused:
        raise_with_hint(make(image="localhost/nowhere"))
    assert refused.value.kind == "image_missing"


def raise_with_hint(place: Podman) -> None:
    try:
        place.up()
    except SystemFailure as failure:
        raise SystemFailure(failure.kind, f"{failure.message} {failure.hint}") from failure


def test_a_tar_that_is_none_is_unusable(make: Make, tmp_path: Path) -> None:
    (tmp_path / "root.tar").write_bytes(b"not a tar" * 1000)
    with pytest.raises(SystemFailure) as refused:
        make(image=str(tmp_path / "root.tar")).up()
    assert refused.value.kind == "image_unusable"


def test_an_engine_that_asks_for_a_loader_does_not_fit_an_empty_image(
    make: Make, host_machine: Host
) -> None:
    place = make()
    host_machine.engine = "/bin/true"
    with pytest.raises(SystemFailure, match="loader") as refused:
        place.up()
    assert refused.value.kind == "engine_unfit"


def test_limits_hold_inside(make: Make) -> None:
    place = make(cpus=1, memory=256 * MIB, cpuset="0", pids=64)
    place.up()
    facts = place.host().facts()
    assert facts["cgroup.memory_bytes"] == str(256 * MIB)
    assert facts["cgroup.cpus"] == "0"
    assert facts["cgroup.tasks"] == "64"
    quota, period = facts["cgroup.cpu_quota_us"], facts["cgroup.cpu_period_us"]
    assert quota == period


def test_what_was_written_is_gone_after_the_reset_container_and_kept_after_others(
    make: Make,
) -> None:
    for storage in ("overlay", "volume"):
        place = make(1 if storage == "overlay" else 2, storage=storage)
        place.up()
        file = f"{place.folder()}/left"
        place.host().write_file(file, "left\n", create=True)
        place.reset("process")
        assert place.host().read_file(file) == "left\n"
        place.reset("container")
        assert not place.host().path_facts(file).exists


def test_a_container_that_somebody_removed_is_made_again(make: Make) -> None:
    place = make()
    place.up()
    before = place.host()
    told("podman", "rm", "--force", "--time=0", place.context.label)
    with pytest.raises(EngineError):
        before.clock()
    place.host().clock()


def test_a_container_of_the_users_own_is_refused_and_left_alone(
    make: Make, undo: UndoLog, tmp_path: Path
) -> None:
    place = make()
    mine = f"localhost/{tmp_path.name.lower()}:latest"
    told("podman", "import", "--quiet", str(tar_of(tmp_path / "root.tar", a=b"")), mine)
    told("podman", "create", "--name", place.context.label, mine, "a")
    try:
        with pytest.raises(SystemFailure) as refused:
            place.up()
        assert refused.value.kind == "name_taken"
        place.down()
        assert undo.pending() == []
        told("podman", "container", "exists", place.context.label)
    finally:
        told("podman", "rm", "--force", place.context.label)
        told("podman", "rmi", mine)


def test_what_a_killed_controller_left_is_found_in_the_ledger_and_removed(
    make: Make, host_machine: Host, undo: UndoLog
) -> None:
    place = make(disks={"data": {}})
    place.up()
    place.attach(RawDisk("data-1", 8 * MIB))
    place.host().kill()
    for pending in undo.pending():
        undo.apply(host_machine, pending)
    assert place.context.label not in told("podman", "ps", "--all", "--format={{.Names}}")
    assert place.context.folder not in told("losetup", "--list")


def test_an_inverse_never_removes_what_bears_another_mark(
    make: Make, host_machine: Host, undo: UndoLog
) -> None:
    place = make()
    place.up()
    removal = next(p for p in undo.pending() if p.inverse.kind == "remove_container")
    other = type(removal.inverse)(place.context.label, "not-the-mark")
    with pytest.raises(AgentRefusal, match="not of this run"):
        other.apply(host_machine)
    place.host().clock()


def test_a_disk_is_mounted_and_written_inside(make: Make, tmp_path: Path) -> None:
    need("mke2fs")
    busybox = Path("/bin/busybox")
    if not busybox.exists():
        pytest.skip("needs /bin/busybox, statically linked")
    tar = tar_of(tmp_path / "root.tar", busybox=busybox.read_bytes())
    place = make(image=str(tar), disks={"data": {}})
    place.up()
    attached = place.attach(RawDisk("data-1", 16 * MIB))
    told("mke2fs", "-q", "-t", "ext2", attached.device)
    host = place.host()
    host.make_directory("/mnt")
    ran = host.run(["/busybox", "mount", attached.device, "/mnt"], timeout_s=60)
    assert ran.exit_code == 0, ran.stderr
    host.write_file("/mnt/file", "on the disk\n", create=True)
    assert host.path_facts("/mnt/file").device == attached.device.rpartition("/")[2]
    assert host.run(["/busybox", "umount", "/mnt"], timeout_s=60).exit_code == 0
    place.detach(attached)


def test_a_container_runs_on_a_machine_behind_ssh(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sshd = Sshd(tmp_path / "sshd")
    with sshd.running(monkeypatch):
        far = open_ssh(ADDRESS)
        place = make(at=far)
        place.up()
        ran = place.host().run(["@engine", "--version"], timeout_s=60)
        assert ran.exit_code == 0
        assert place.reset("container").evidence["overlay.bytes"] == "0"
        place.down()
        far.close()


def test_the_engine_inside_is_the_one_outside(make: Make) -> None:
    place = make()
    place.up()
    (pid,) = place.costs().processes.values()
    inside = Path(f"/proc/{pid}/root{place.host().engine}")
    assert inside.read_bytes() == find_engine().read_bytes()


def test_a_recipe_that_was_not_built_says_how_to_build_it(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "mine.yaml"
    recipe.write_text("summary: Never built.\npackages: [busybox-static]\n")
    with pytest.raises(SystemFailure, match="--kind container") as refused:
        raise_with_hint(make(image=str(recipe)))
    assert refused.value.kind == "image_missing"
