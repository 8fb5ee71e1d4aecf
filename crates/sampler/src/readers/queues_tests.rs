use super::*;
use crate::netlink::tests::attribute;

/// Numbers of `lo` with `tbf rate 40mbit`, as `tc -s qdisc` showed them: 437 packets, 137 times
/// over the limit, 3 packets of 4,500 bytes in the queue.
fn shaped(parent: u32, kind: &[u8], overlimits: u32) -> Vec<u8> {
    let header = [0, 1, 0x8001_0000, parent, 2];
    let mut bytes: Vec<u8> = header
        .iter()
        .flat_map(|each: &u32| each.to_ne_bytes())
        .collect();
    let basic = [523_775_u64.to_ne_bytes(), 437_u64.to_ne_bytes()].concat();
    let queue = [3, 4_500, 2, 1, overlimits];
    let queue: Vec<u8> = queue
        .iter()
        .flat_map(|each: &u32| each.to_ne_bytes())
        .collect();
    let stats = [
        attribute(STATS_BASIC, &basic),
        attribute(STATS_QUEUE, &queue),
    ]
    .concat();
    bytes.extend(attribute(KIND, &[kind, b"\0"].concat()));
    bytes.extend(attribute(STATS, &stats));
    bytes
}

fn seen(contents: &[&[u8]], tally: &mut Tally) -> Device {
    tally.begin();
    for content in contents {
        tally.add(&discipline(content).unwrap());
    }
    tally.begun = true;
    tally.devices[&1].clone()
}

#[test]
fn a_shaper_that_comes_while_sampling_counts_from_its_first_packet() {
    let mut tally = Tally::of(&[1]);
    let before = seen(&[&shaped(ROOT, b"noqueue", 0)], &mut tally);
    assert_eq!(before.grown, [0; COUNTERS]);
    tally.before.clear();
    let after = seen(&[&shaped(ROOT, b"tbf", 137)], &mut tally);
    assert_eq!(after.grown, [437, 2, 1, 137]);
    assert_eq!((after.waiting_bytes, after.delayed_packets), (4_500, 0));
}

#[test]
fn what_was_counted_before_sampling_began_is_no_growth() {
    let mut tally = Tally::of(&[1]);
    seen(&[&shaped(ROOT, b"tbf", 100)], &mut tally);
    let after = seen(&[&shaped(ROOT, b"tbf", 137)], &mut tally);
    assert_eq!(after.grown, [0, 0, 0, 37]);
}

#[test]
fn a_discipline_that_was_made_anew_never_takes_away_what_was_counted() {
    let mut tally = Tally::of(&[1]);
    seen(&[&shaped(ROOT, b"tbf", 100)], &mut tally);
    let after = seen(&[&shaped(ROOT, b"tbf", 5)], &mut tally);
    assert_eq!(after.grown[3], 5);
}

#[test]
fn a_limit_below_the_root_counts_once() {
    let mut tally = Tally::of(&[1]);
    seen(&[], &mut tally);
    let child = shaped(0x8001_0001, b"tbf", 7);
    let after = seen(&[&shaped(ROOT, b"mq", 7), &child], &mut tally);
    assert_eq!(after.grown, [437, 2, 1, 7]);
    assert_eq!(after.waiting_bytes, 4_500);
}

#[test]
fn packets_that_netem_holds_are_delayed_wherever_it_stands() {
    let mut tally = Tally::of(&[1]);
    let after = seen(&[&shaped(0x8001_0001, b"netem", 0)], &mut tally);
    assert_eq!(after.delayed_packets, 3);
}

#[test]
fn a_message_that_is_cut_off_is_no_discipline() {
    let whole = shaped(ROOT, b"tbf", 1);
    for length in 0..whole.len() - 4 {
        assert_eq!(discipline(&whole[..length]), None, "{length}");
    }
}

#[test]
fn a_device_that_is_gone_has_no_figures() {
    let mut tally = Tally::of(&[1]);
    seen(&[&shaped(ROOT, b"tbf", 1)], &mut tally);
    assert!(!seen(&[], &mut tally).seen);
}
