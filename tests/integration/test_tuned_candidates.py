"""The profile that powertop2tuned writes of this machine is a candidate beside others."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.integration.conftest import Steelyard
from tests.platforms.needs import need

SLOW_S, FAST_S = 0.2, 0.01


def test_a_profile_that_powertop2tuned_wrote_is_found_and_chosen(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    need("powertop", "powertop2tuned", root=True)
    seen, profiles = tmp_path / "powertop.html", tmp_path / "profiles"
    subprocess.run(["powertop", f"--html={seen}", "--time=1"], check=True, capture_output=True)
    words = ["powertop2tuned", "--new-profile", "--input", str(seen), "--output", str(profiles)]
    subprocess.run([*words, "found"], check=True, capture_output=True)
    for name in ("balanced", "powersave"):
        (profiles / name).mkdir()
        (profiles / name / "tuned.conf").write_text("[main]\n", encoding="utf-8")
    command = f"test {{profile}} = found && sleep {FAST_S} || sleep {SLOW_S}"
    asked = ["--profiles", str(profiles), "--baseline", "balanced", "--margin", "50%", "--json"]
    done = steelyard.run("tune", command, *asked, "--budget", "1min")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["best"] == "found"
