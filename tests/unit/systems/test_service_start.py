"""What a service is given before it starts, and what stops it from starting."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.hosts.site import Site
from steelyard.study import catalogue
from steelyard.study.declared.value import defaults_of
from steelyard.study.model import ServiceSpec
from steelyard.study.service.entry import FilesBySize, Maildirs, OneFile
from steelyard.systems.services import content
from steelyard.systems.services.ports import FIRST_PORT, PORTS, free_ports, taken, used_ports
from steelyard.systems.services.site import accounts
from steelyard.systems.services.start import part_spec
from steelyard.systems.services.values import values_for, wanted_ports
from steelyard.systems.services.version import read_version

TABLE = """\
   0: 0100007F:2A30 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0
"""
GIVEN = {"folder": "/t", "data": "/t/data", "address": "10.0.0.2", "threads": "4"}


def spec(use: str, **settings: object) -> ServiceSpec:
    declared = catalogue.service(use).settings
    defaults = defaults_of(declared)
    return ServiceSpec(use=use, settings=defaults | settings)


def test_used_ports_are_read_from_the_kernels_tables() -> None:
    assert used_ports(TABLE) == {0x2A30, 22}


def test_a_port_is_taken_by_who_listens_at_the_address_or_at_all_of_them() -> None:
    assert taken([0x2A30, 22, 23], "127.0.0.1", TABLE) == [0x2A30, 22]
    assert taken([0x2A30, 22], "10.0.0.1", TABLE) == [22]


def test_free_ports_are_not_used_and_not_given_twice() -> None:
    used = set(range(FIRST_PORT, FIRST_PORT + PORTS)) - {11_000, 11_001, 12_000}
    assert sorted(free_ports(3, used, "/t")) == [11_000, 11_001, 12_000]


def test_services_that_start_at_once_look_for_ports_at_different_places() -> None:
    first = {free_ports(1, set(), f"/scratch/{trial:04d}-1")[0] for trial in range(50)}
    assert len(first) > 45


def test_a_machine_without_a_free_port_is_reported() -> None:
    with pytest.raises(RuntimeError, match="no 1 of"):
        free_ports(1, set(range(FIRST_PORT, FIRST_PORT + PORTS)), "/t")


def test_ports_that_the_study_names_are_not_searched_for() -> None:
    entry = catalogue.service("dovecot")
    assert wanted_ports(entry, spec("dovecot", pop3_port=110)) == ["imap_port", "lmtp_port"]
    assert wanted_ports(catalogue.service("sink-smtp"), spec("sink-smtp")) == []


def test_a_setting_that_is_left_out_is_what_the_file_says_then() -> None:
    entry = catalogue.service("nginx")
    given = GIVEN | {"user": "www-data", "port": "8080"}
    assert values_for(entry, spec("nginx"), given)["workers"] == "4"
    assert values_for(entry, spec("nginx", workers=7), given)["workers"] == "7"


def test_a_place_has_the_text_of_the_value_of_its_setting() -> None:
    entry = catalogue.service("nginx")
    given = GIVEN | {"user": "www-data", "port": "8080"}
    assert values_for(entry, spec("nginx", access_log=True), given)["log"] == "/t/access.log"
    secure = values_for(entry, spec("nginx", tls="implicit"), given)["secure"]
    assert "listen 10.0.0.2:8080 ssl" in secure


def test_a_part_takes_over_the_settings_that_are_handed_on() -> None:
    whole = spec("postfix", deliver="dovecot", mailboxes=7, message_size=2048)
    part = part_spec(catalogue.service("postfix").processes["store"], whole)
    assert part.use == "dovecot"
    assert part.settings["mailboxes"] == 7
    assert part.settings["message_size"] == 2048
    assert part.settings["per_user"] == 0


def test_accounts_are_those_of_the_file_for_root_and_the_starters_for_anybody_else() -> None:
    entry = catalogue.service("dovecot")
    assert accounts(Site(0, "root", "root"), entry)["login_user"] == "dovenull"
    own = accounts(Site(1000, "ann", "staff"), entry)
    assert own["login_user"] == "ann"
    assert own["internal_group"] == "staff"


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("nginx version: nginx/1.22.1\n", "1.22.1"),
        ("\n  angie version: 2\n", "not parsed: angie version: 2"),
        ("", "not parsed: nothing"),
    ],
)
def test_a_version_is_read_or_quoted_and_never_guessed(said: str, version: str) -> None:
    assert read_version(r"nginx/(\S+)", said) == version


def made(folder: Path, what: content.Made, seed: int = 1, **settings: object) -> Path:
    block = folder / "block"
    block.write_text(content.block(seed), encoding="utf-8")
    values = {"data": str(folder / "d")}
    text = content.script(what, settings, values, block_file=str(block), owner=None)
    subprocess.run(["sh", "-s"], input=text, text=True, check=True)
    return folder / "d"


ONE = OneFile(make="file", at="{data}/page", bytes="body")


@pytest.mark.parametrize("size", [0, 1, 61_600, 200_001])
def test_a_file_has_exactly_the_size_that_is_asked_for(tmp_path: Path, size: int) -> None:
    assert len((made(tmp_path, ONE, body=size) / "page").read_bytes()) == size


def test_the_same_seed_makes_the_same_content_and_another_one_other(tmp_path: Path) -> None:
    pages = []
    for i, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(i)
        folder.mkdir()
        pages.append((made(folder, ONE, seed, body=5000) / "page").read_bytes())
    assert pages[0] == pages[1] != pages[2]


def test_files_are_named_by_their_sizes(tmp_path: Path) -> None:
    kinds = FilesBySize(make="files", at="{data}", sizes="files")
    folder = made(tmp_path, kinds, files=(10, 4096, 10))
    assert {path.name: path.stat().st_size for path in folder.iterdir()} == {"10": 10, "4096": 4096}


def test_every_mailbox_holds_its_messages_of_exactly_their_size(tmp_path: Path) -> None:
    kinds = Maildirs(make="maildirs", at="{data}", mailboxes="m", messages="n", bytes="b")
    folder = made(tmp_path, kinds, m=3, n=4, b=2000)
    assert sorted(path.name for path in folder.iterdir()) == ["user1", "user2", "user3"]
    for user in folder.iterdir():
        messages = sorted((user / "new").iterdir())
        assert len(messages) == 4
        for message in messages:
            text = message.read_bytes()
            on_the_wire = len(text) + text.count(b"\n")
            assert message.name.endswith(f",S={len(text)},W={on_the_wire}")
            assert len(text) == 2000
            assert b"\n\n" in text
    subjects = {path.read_text().split("Subject: ")[1][:17] for path in messages}
    assert len(subjects) == 4


def test_a_mailbox_without_messages_is_empty(tmp_path: Path) -> None:
    kinds = Maildirs(make="maildirs", at="{data}", mailboxes="m", messages="n", bytes="b")
    folder = made(tmp_path, kinds, m=2, n=0, b=512)
    assert list((folder / "user2" / "new").iterdir()) == []
