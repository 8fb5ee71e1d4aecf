"""A run whose workload damages the disk behind the back of the filesystem."""

from __future__ import annotations

import json

from steelyard.records.archive import open_run
from steelyard.records.schema import Outcome
from tests.integration.conftest import Steelyard
from tests.platforms.needs import need

SPOIL = (
    "sync; b=$(debugfs -R 'bmap /.steelyard-test 3' {device} 2>/dev/null); "
    "dd if=/dev/zero of={device} bs=4096 seek=$b count=1 oflag=direct conv=notrunc status=none"
)
STUDY = f"""\
study: tiny
question: Does the other one damage disks?
systems:
  good: {{platform: native, disks: {{data: {{size: 64 MiB, mkfs: -b 4096}}}}}}
  bad: {{platform: native, disks: {{data: {{size: 64 MiB, mkfs: -b 4096, mount: noatime}}}}}}
workload:
  use: command
  command:
    - sh
    - -c
    - "if grep -q ' {{mount}} .*noatime' /proc/self/mounts; then {SPOIL}; fi; sleep 0.1"
trials: {{margin: 50 %, settle: 0, reset: service, retry: 2, budget: {{trials: 8 per cell}}}}
claims: [{{id: harmless, system: bad, no_worse_than: good, without: [damage]}}]
"""


def test_damage_ends_a_system_at_once_and_stands_first_in_the_report(steelyard: Steelyard) -> None:
    need("losetup", "mkfs.ext4", "e2fsck", "debugfs", root=True)
    (steelyard.folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    done = steelyard.run("run", ".", "--seed", "1", "--format", "json")
    assert done.returncode not in (0, 2), done.stderr
    run = open_run(steelyard.folder / "results" / "tiny")
    records = run.records()
    bad = [record for record in records if record.cell.system == "bad"]
    assert [record.outcome for record in bad] == [Outcome.DAMAGED], "not tried again"
    (check,) = bad[0].disk_checks
    assert [damage.kind for damage in check.damage] == ["content_changed"]
    good = [record for record in records if record.cell.system == "good"]
    assert {record.outcome for record in good} <= {Outcome.OK}
    assert all(not each.damage for record in good for each in record.disk_checks)
    findings = json.loads((run.path / "report" / "findings.json").read_text(encoding="utf-8"))
    (stopped,) = (each for each in findings["caveats"] if each["kind"] == "system_futility")
    assert stopped["system"] == "bad"
    assert stopped["reason"]["commonest"]["outcome"] == "damaged"
    [claim] = findings["workloads"][0]["claims"]
    assert claim["word"] == "contradicted"
    assert "DAMAGE" in done.stdout
