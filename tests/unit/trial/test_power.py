from __future__ import annotations

import pytest

from steelyard.records.counters import Counters
from steelyard.records.missing import Quoted, Reason, TooFewSamples
from steelyard.trial.observe.power import battery_power_w, energy_j, mean_power_w
from steelyard.trial.observe.window import WindowSamples

SECOND = 10**9


def window(missing: dict[str, str] | None = None, **zones: list[int | None]) -> WindowSamples:
    """Three samples a second apart in a window of three seconds; counters in microjoules."""
    columns = {f"power.{name.replace('_', '-')}.energy_uj": rows for name, rows in zones.items()}
    counters = Counters({"monotonic_ns": [0, SECOND, 2 * SECOND], **columns})
    return WindowSamples.cut(counters, missing or {}, 0, 3 * SECOND)


def test_packages_and_the_memory_of_one_are_added_and_cores_are_not_counted_twice() -> None:
    told = window(package_0=[0, 20_000_000, 40_000_000], core=[0, 9_000_000, 18_000_000],
                  dram=[0, 1_000_000, 4_000_000])  # fmt: skip
    assert mean_power_w(told) == pytest.approx(22.0)
    assert energy_j(told) == pytest.approx(66.0)


def test_the_whole_board_counts_alone_where_it_is_measured() -> None:
    told = window(package_0=[0, 1, 2], psys=[5, 5_000_005, 10_000_005])
    assert mean_power_w(told) == pytest.approx(5.0)


def test_memory_of_every_package_is_added() -> None:
    memory = {"package-0.dram": [0, 0, 2_000_000], "package-1.dram": [0, 0, 6_000_000]}
    told = window(package_0=[0, 0, 2_000_000], package_1=[0, 0, 4_000_000], **memory)
    assert mean_power_w(told) == pytest.approx(7.0)


def test_memory_of_no_one_knows_which_package_is_left_out() -> None:
    told = window(package_0=[0, 0, 2_000_000], package_1=[0, 0, 4_000_000], dram=[0, 0, 8_000_000])
    assert mean_power_w(told) == pytest.approx(3.0)


@pytest.mark.parametrize("reading", [mean_power_w, energy_j])
def test_a_machine_without_counters_says_so_and_is_not_zero(reading: object) -> None:
    assert callable(reading)
    said = "/sys/class/powercap: nothing there to read"
    assert reading(window({"power": said})) == Quoted(kind="sensor_refused", said=said)
    assert reading(window()) == Reason(kind="no_energy_counter")


def test_a_counter_that_is_hidden_or_stands_still_gives_no_figure() -> None:
    hidden = {"power.package-0.energy_uj": "permission denied"}
    said = "permission denied"
    assert mean_power_w(window(hidden)) == Quoted(kind="sensor_refused", said=said)
    torn = window(hidden, package_0=[0, None, 2])
    assert mean_power_w(torn) == Quoted(kind="sampler_reported", said=said)
    assert mean_power_w(window(package_0=[7, 7, 7])) == Reason(kind="energy_counters_constant")


def battery(
    drawn_uw: list[int | None], discharging: list[int | None], missing: dict[str, str] | None = None
) -> WindowSamples:
    columns = {"battery.drawn_uw": drawn_uw, "battery.discharging": discharging}
    clock: list[int | None] = [i * SECOND for i in range(len(drawn_uw))]
    return WindowSamples.cut(
        Counters({"monotonic_ns": clock, **columns}), missing or {}, 0, 9 * SECOND
    )


def test_power_from_a_battery_is_the_mean_of_what_it_told() -> None:
    told = battery([7_000_000, 9_000_000, 11_000_000], [1, 1, 1])
    assert battery_power_w(told) == pytest.approx(9.0)


def test_a_battery_that_charges_or_rests_for_a_moment_measures_nothing() -> None:
    for told in (battery([7, None, 7], [1, 0, 1]), battery([None, None], [0, 0])):
        assert battery_power_w(told) == Reason(kind="battery_not_discharging")


def test_a_machine_without_a_battery_says_so_and_is_not_zero() -> None:
    said = "/sys/class/power_supply: no battery there to read"
    assert battery_power_w(window({"battery": said})) == Quoted(kind="sensor_refused", said=said)
    assert battery_power_w(battery([0, 0], [1, 1])) == Reason(kind="battery_reads_zero")
    silent = "no battery tells its power"
    unread = battery([None, None], [1, 1], {"battery.drawn_uw": silent})
    assert battery_power_w(unread) == Quoted(kind="sampler_reported", said=silent)
    assert battery_power_w(battery([5], [1])) == TooFewSamples(samples=1, needed=2)
