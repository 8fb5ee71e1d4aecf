"""Rules on small tables written by hand: what is found, and what looks like it and is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.consistency.check import check_table
from steelyard.consistency.claims_file import read_claims
from steelyard.consistency.findings import Cause, Finding, Rule, Severity
from steelyard.consistency.printed import Interval, is_factor_of_ten, is_slip, printed, rounded
from steelyard.consistency.reading import read_table


def findings(folder: Path, text: str) -> list[Finding]:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return list(check_table(read_table(path)).findings)


def rows(header: str, *lines: str) -> str:
    return "\n".join([header, *lines]) + "\n"


TOOL = "tool,metric,unit,value"


def test_a_printed_number_is_all_that_rounds_to_it() -> None:
    number = printed("1.50")
    assert number is not None
    assert number.interval == Interval(1.495, 1.505)
    whole, count = printed("12"), printed("12", exact=True)
    assert whole is not None
    assert count is not None
    assert whole.interval == Interval(11.5, 12.5)
    assert count.interval == Interval(12, 12)


@pytest.mark.parametrize(
    ("mode", "value"), [("nearest", -3.45), ("up", -3.44), ("down", -3.45), ("truncated", -3.44)]
)
def test_directions_of_rounding(mode: str, value: float) -> None:
    like = printed("0.00")
    assert like is not None
    assert rounded(-3.448, like, mode) == value


def test_slips_are_one_digit_two_exchanged_a_sign_or_the_point() -> None:
    assert is_slip("294", Interval(393, 395))
    assert is_slip("31.5", Interval(13.4, 13.6))
    assert is_slip("4.2", Interval(-4.3, -4.1))
    assert not is_slip("294", Interval(511, 513))
    assert is_factor_of_ten(30.1, Interval(3.0, 3.02))
    assert not is_factor_of_ten(30.1, Interval(4.0, 4.02))


def test_a_rate_is_work_by_time_in_decimal_or_binary_units(tmp_path: Path) -> None:
    copied = [f"dd,copied,B,{300 * 1024 * 1024}", "dd,time,s,2.968", "dd,write_rate,MB/s,106"]
    assert not findings(tmp_path, rows(TOOL, *copied))
    read = ["hdparm,data_read,MB,386", "hdparm,time,s,3.01", "hdparm,read_rate,MB/s,128.2"]
    assert not findings(tmp_path, rows(TOOL, *read))
    (wrong,) = findings(tmp_path, rows(TOOL, *read).replace("128.2", "182.2"))
    assert wrong.rule is Rule.WORK


def test_a_rate_far_from_any_work_is_not_meant_as_one(tmp_path: Path) -> None:
    """As of a tool that waits between requests and prints the rate without the waiting."""
    lines = ["probe,requests,count,10", "probe,test_duration,s,9.0", "probe,iops,1/s,311"]
    assert not findings(tmp_path, rows(TOOL, *lines))


def test_a_mean_of_rounded_parts_names_that_cause(tmp_path: Path) -> None:
    header = "layout,kind,metric,unit,value"
    parts = ["one,cell,saved,percent,-1.90", "two,cell,saved,percent,0",
             "three,cell,saved,percent,-10.18"]  # fmt: skip
    mean = "mean of layouts,printed_mean,saved,percent,-3.67"
    (wrong,) = findings(tmp_path, rows(header, *parts, mean))
    assert (wrong.rule, wrong.cause, wrong.at.line) == (Rule.MEAN, Cause.PARTS_ROUNDED, 5)
    assert wrong.expected_high == pytest.approx(-3.857, abs=0.01)


@pytest.mark.parametrize(
    ("shown", "cause"), [("15.0", Cause.DIVISOR), ("8.0", Cause.PART_LEFT_OUT)]
)
def test_a_wrong_divisor_and_a_part_left_out_are_named(
    shown: str, cause: Cause, tmp_path: Path
) -> None:
    parts = ["a,8.0,s", "b,10.0,s", "c,12.0,s", "d,15.0,s"]
    whole = {Cause.DIVISOR: "15.0", Cause.PART_LEFT_OUT: "7.5"}[cause]
    text = rows("machine,value,unit", *parts, f"mean of machines,{whole},s")
    (wrong,) = findings(tmp_path, text)
    assert (wrong.rule, wrong.cause) == (Rule.MEAN, cause)


def test_a_wrong_mean_is_one_finding_and_not_a_wrong_difference_too(tmp_path: Path) -> None:
    cells = {"a": (104.0, 91.5), "b": (131.5, 120.0), "c": (98.0, 97.0), "mean": (111.17, 102.83)}
    lines = [f"{name},{metric},s,{value:.2f}" for name, (before, after) in cells.items()
             for metric, value in (("without", before), ("with", after),
                                   ("saved", before - after))]  # fmt: skip
    text = rows("disk,metric,unit,value", *lines)
    assert not findings(tmp_path, text)
    (wrong,) = findings(tmp_path, text.replace("without,s,111.17", "without,s,102.83"))
    assert (wrong.rule, wrong.cause, wrong.at.printed) == (Rule.MEAN, Cause.COPIED, "102.83")


def test_means_that_are_geometric_are_held_to_that(tmp_path: Path) -> None:
    lines = []
    for metric, (a, b) in {"x": (1.0, 4.0), "y": (9.0, 4.0), "z": (2.0, 8.0)}.items():
        lines += [f"one,{metric},s,{a}", f"two,{metric},s,{b}", f"mean,{metric},s,{(a * b) ** 0.5}"]
    assert findings(tmp_path, rows("machine,metric,unit,value", *lines))
    whole = [
        line.replace(",x,", ",t,").replace(",y,", ",t,").replace(",z,", ",t,") for line in lines
    ]
    tagged = [f"{'uvw'[at // 3]},{line}" for at, line in enumerate(whole)]
    assert not findings(tmp_path, rows("test,machine,metric,unit,value", *tagged))


def test_latency_of_few_samples_has_an_error_of_its_own(tmp_path: Path) -> None:
    header = "users,samples,metric,unit,value"
    text = rows(header, "10,10,throughput,req/s,100", "10,10,latency,ms,130")
    assert not findings(tmp_path, text)
    (wrong,) = findings(tmp_path, text.replace("130", "250"))
    assert (wrong.rule, wrong.expected_high) == (Rule.LITTLES_LAW, pytest.approx(100.0))
    (wrong,) = findings(tmp_path, text.replace("10,10,", "10,,"))
    assert wrong.rule is Rule.LITTLES_LAW


def test_a_cache_as_fast_as_the_one_before_it_is_named_where_others_have_a_step(
    tmp_path: Path,
) -> None:
    lines = [f"{name},{level},rate,MB/s,{value}" for name in ("a", "b", "c")
             for level, value in (("L1", 20000.0), ("L2", 7000.0), ("RAM", 3000.0))]  # fmt: skip
    text = rows("machine,level,metric,unit,value", *lines)
    wrong = findings(tmp_path, text.replace("c,L2,rate,MB/s,7000.0", "c,L2,rate,MB/s,19950.1"))
    assert [(each.rule, each.cause, each.at.line) for each in wrong] == [
        (Rule.MEMORY_HIERARCHY, Cause.NO_STEP, 9)
    ]


@pytest.mark.parametrize(("third", "count"), [("17.4", 0), ("174", 1), ("1.74", 1)])
def test_a_factor_of_ten_stands_out_of_a_smooth_series(
    third: str, count: int, tmp_path: Path
) -> None:
    values = ["12.1", "15.0", third, "19.2", "21.5", "23.9"]
    lines = [f"{users},t,ms,{value}" for users, value in enumerate(values, start=1)]
    found = findings(tmp_path, rows("users,metric,unit,value", *lines))
    assert [each.at.line for each in found] == [4] * count


def test_a_first_value_that_is_unlike_the_second_is_no_factor_of_ten(tmp_path: Path) -> None:
    values = ["14.2", "40.3", "20.1", "18.9", "14.4", "13.8", "13.7", "13.1"]
    lines = [f"{at},t,ms,{value}" for at, value in enumerate(values, start=1)]
    assert not findings(tmp_path, rows("probe,metric,unit,value", *lines))


def test_a_guest_that_moves_more_than_its_host_is_one_finding(tmp_path: Path) -> None:
    rates = {"guest": 2000, "hypervisor host": 1500}
    lines = [f"{users},{scope},disk,kB/s,{rate + users}" for users in (1, 2, 3)
             for scope, rate in rates.items()]  # fmt: skip
    (wrong,) = findings(tmp_path, rows("users,scope,metric,unit,value", *lines))
    assert (wrong.rule, wrong.count, wrong.of) == (Rule.GUEST_EXCEEDS_HOST, 3, 3)


def test_the_mean_lies_between_what_quantiles_leave(tmp_path: Path) -> None:
    header = "statistic,unit,value"
    shares = ["min,ms,43", "p50,ms,265", "p90,ms,314", "p99,ms,594", "max,ms,7352"]
    assert not findings(tmp_path, rows(header, *shares, "mean,ms,294"))
    (wrong,) = findings(tmp_path, rows(header, *shares, "mean,ms,494"))
    assert (wrong.rule, wrong.at.printed) == (Rule.PERCENTILES, "494")


CLAIMED = rows(
    "system,users,metric,unit,direction,value",
    "a,1,rate,1/s,higher,100", "b,1,rate,1/s,higher,90",
    "a,8,rate,1/s,higher,700", "b,8,rate,1/s,higher,700.4",
)  # fmt: skip


def claimed(folder: Path, claim: str) -> tuple[Finding, ...]:
    table, claims = folder / "table.csv", folder / "claims.csv"
    table.write_text(CLAIMED, encoding="utf-8")
    claims.write_text(rows("claim,subject,relation,than,by,users", claim), encoding="utf-8")
    read = read_table(table)
    return check_table(read, read_claims(claims, read)).findings


@pytest.mark.parametrize(
    ("claim", "cause", "count"),
    [
        ("x,a,better,b,,1", None, 0),
        ("x,b,better,a,,1", None, 1),
        ("x,a,better,b,20%,1", None, 1),
        ("x,a,better,b,5%,1", None, 0),
        ("x,a,better,b,,>= 8", Cause.TIED, 1),
        ("x,a,equal,b,1%,8", None, 0),
        ("x,a,equal,b,1%,1", None, 1),
        ("x,b,lower,a,,1 | 8", None, 0),
        ("x,b,higher,a,,1 | 8", None, 1),
        ("x,a,better,b,11%,1", Cause.TIED, 1),
        ("x,b,worse,a,10%,1", Cause.TIED, 1),
        ("x,b,worse,,,1", None, 0),
    ],
)
def test_a_claim_is_held_against_each_pair(
    claim: str, cause: Cause | None, count: int, tmp_path: Path
) -> None:
    found = claimed(tmp_path, claim)
    assert [(each.rule, each.cause, each.count) for each in found] == (
        [(Rule.CLAIM, cause, count)] if count else []
    )


def test_a_claim_that_the_printed_digits_do_not_decide_is_a_warning_without_bounds(
    tmp_path: Path,
) -> None:
    (found,) = claimed(tmp_path, "x,a,better,b,11%,1")
    assert (found.severity, found.expected_low, found.expected_high) == (
        Severity.WARNING, None, None)  # fmt: skip
    (found,) = claimed(tmp_path, "x,a,better,b,20%,1")
    assert (found.severity, found.expected_low) == (Severity.ERROR, 108.0)


@pytest.mark.parametrize(
    ("header", "line", "rule"),
    [
        ("tool,mean_ms,sd_ms,min_ms,max_ms", "a,10.00,0.10,12.50,14.00", Rule.PERCENTILES),
        ("command,mean,stddev,median,user,system,min,max", "a,1.0,9.1,1.0,0.5,0.3,0.9,1.2",
         Rule.SPREAD),
        ("tool,p50 (ms),p99 (ms)", "a,10.0,5.0", Rule.PERCENTILES),
        ("tool,clients,tps,latency_ms", "a,8,1000,20", Rule.LITTLES_LAW),
        ("tool,clients,sent_req_per_s,latency_ms", "a,8,1000,20", Rule.LITTLES_LAW),
        ("tool,clients,req_per_s,latency_ms", "a,8,1000,20", Rule.LITTLES_LAW),
    ],
)  # fmt: skip
def test_headers_of_statistics_and_rates_alone_are_read(
    header: str, line: str, rule: Rule, tmp_path: Path
) -> None:
    assert rule in {finding.rule for finding in findings(tmp_path, rows(header, line))}


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        ("command,mean,stddev,median,user,system,min,max",
         ["a,1.02,0.11,1.01,0.52,0.31,0.90,1.20", "b,2.02,0.11,2.01,0.52,0.31,1.90,2.20"]),
        ("service,latency_ms,min,max", ["a,120,2,8", "b,90,1,4"]),
        ("disk,iops,bw_KiB/s,bs_KiB", ["a,1000,4000,4", "b,1000,8000,8", "c,2000,8000,4"]),
        ("tool,clients,bytes_per_s,latency_ms", ["a,8,1000000,2", "b,16,1200000,3"]),
    ],
)  # fmt: skip
def test_such_headers_of_a_correct_table_give_no_finding(
    header: str, lines: list[str], tmp_path: Path
) -> None:
    assert not findings(tmp_path, rows(header, *lines))
