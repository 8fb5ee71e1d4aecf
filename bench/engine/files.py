"""FTP: small files against ftpbench, a large one against curl, on vsftpd."""

from __future__ import annotations

from pathlib import Path

from bench.compiled import SOURCES
from bench.engine import outputs
from bench.engine.contest import (
    Contest,
    Least,
    Shot,
    cpu_at_most,
    per_cpu_at_least,
    rate_at_least,
)
from bench.engine.needs import CURL, FTPBENCH, GCC, VSFTPD, Root, found
from bench.engine.peers import least_shot
from bench.engine.process import charged
from bench.engine.servers import vsftpd
from bench.engine.steelyard import load, run_load

CONNECTIONS = 10
LARGE_BYTES = 1 << 30
BLOCK = bytes(range(256)) * 4096
ROOT = Root("vsftpd", "run the bench as root")
TOLD = "bytes %{size_download} seconds %{time_total}\n"
TOLD_UP = "bytes %{size_upload} seconds %{time_total}\n"


def contests() -> list[Contest]:
    """Everything that FTP is held against."""
    large = (rate_at_least(0.95, "bytes/s"),)
    needs = (CURL, VSFTPD, ROOT)
    down, up = "1 GiB retrieved once, vsftpd", "1 GiB stored once, vsftpd"
    return [
        Contest(
            "ftp-small",
            f"4 KiB retrieved again and again, {CONNECTIONS} connections, vsftpd",
            "ftpbench",
            (FTPBENCH, VSFTPD, ROOT, GCC),
            vsftpd,
            ours_small,
            shoot_ftpbench,
            (per_cpu_at_least(10.0),),
            Least(shoot_ftp_client, cpu_at_most(1.10)),
        ),
        Contest("ftp-down", down, "curl", needs, vsftpd, ours_down, shoot_curl_down, large),
        Contest("ftp-up", up, "curl", needs, vsftpd, ours_up, shoot_curl_up, large),
    ]


def ours_small(address: str, seconds: int) -> Shot:
    """The engine on small files."""
    _, port = address.split()
    return load(f"ftp://127.0.0.1:{port}/small", seconds, "-c", str(CONNECTIONS))


def shoot_ftpbench(address: str, seconds: int) -> Shot:
    """ftpbench's own functions; the start of Python is not charged to it."""
    _, port = address.split()
    script = str(SOURCES / "ftpbench_small.py")
    program = found("ftpbench") or "ftpbench"
    command = [
        interpreter(Path(program)),
        script,
        program,
        port,
        "small",
        str(CONNECTIONS),
        str(seconds),
    ]
    done = charged(command)
    counted, before_s = outputs.ftp_small(done.output)
    return Shot(counted.operations, done.cpu_s - before_s, counted.per_s)


def shoot_ftp_client(address: str, seconds: int) -> Shot:
    """The minimal client on small files."""
    _, port = address.split()
    return least_shot("ftp_client", port, "small", CONNECTIONS, seconds)


def interpreter(program: Path) -> str:
    """The Python that has what the program imports: the one that its first line names."""
    first = program.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("#!").strip()


def ours_down(address: str, _: int) -> Shot:
    """The engine takes the large file once."""
    _folder, port = with_large(address)
    result, cpu_s = run_load(f"ftp://127.0.0.1:{port}/large", *ONCE)
    return large_shot(result["load"]["window_ns"], cpu_s)


def shoot_curl_down(address: str, _: int) -> Shot:
    """Curl takes the large file once."""
    _folder, port = with_large(address)
    return curl("-o", "/dev/null", "-w", TOLD, f"ftp://127.0.0.1:{port}/large")


def ours_up(address: str, _: int) -> Shot:
    """The engine stores a large file once."""
    folder, port = with_large(address)
    options = ("--actions", "upload", "--folder", "/incoming", "--upload-size", str(LARGE_BYTES))
    result, cpu_s = run_load(f"ftp://127.0.0.1:{port}/", *options, *ONCE)
    emptied(folder)
    return large_shot(result["load"]["window_ns"], cpu_s)


def shoot_curl_up(address: str, _: int) -> Shot:
    """Curl stores the large file once."""
    folder, port = with_large(address)
    done = curl(
        "-T", str(folder / "root/large"), "-w", TOLD_UP, f"ftp://127.0.0.1:{port}/incoming/curl"
    )
    emptied(folder)
    return done


ONCE = ("-c", "1", "-n", "1", "--timeout", "60s")


def curl(*options: str) -> Shot:
    done = charged(["curl", "-sS", *options])
    counted = outputs.curl(done.output)
    return Shot(counted.operations, done.cpu_s, counted.per_s)


def large_shot(window_ns: int, cpu_s: float) -> Shot:
    return Shot(LARGE_BYTES, cpu_s, LARGE_BYTES / (window_ns / 1e9))


def with_large(address: str) -> tuple[Path, str]:
    """Folder and port, with the large file in place."""
    name, port = address.split()
    file = Path(name) / "root/large"
    if not file.is_file():
        with file.open("wb") as stream:
            for _ in range(LARGE_BYTES // len(BLOCK)):
                stream.write(BLOCK)
    return Path(name), port


def emptied(folder: Path) -> None:
    for file in (folder / "root/incoming").iterdir():
        file.unlink()
