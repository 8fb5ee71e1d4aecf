use super::*;

fn job() -> RamJob {
    RamJob {
        elements: vec![Element::Int, Element::Float],
        operations: vec![MemoryOperation::Read, MemoryOperation::Triad],
        smallest_block_bytes: 1 << 10,
        largest_block_bytes: 2 << 10,
        array_bytes: Some(64 << 10),
        stores: None,
        threads: 1,
        repeats: 2,
        isa: None,
    }
}

fn run_now(job: &RamJob) -> Result<RamResult, KernelError> {
    run(job, &AtomicBool::new(false), &|_| ())
}

#[test]
fn blocks_double_up_to_the_largest() {
    let from = SMALLEST_BLOCK_BYTES;
    assert_eq!(block_sizes(from, 4 << 10), [1 << 10, 2 << 10, 4 << 10]);
    assert_eq!(block_sizes(from, 3 << 10), [1 << 10, 2 << 10]);
    assert_eq!(block_sizes(from, 32 << 20).len(), 16);
    assert_eq!(block_sizes(3 << 10, 3 << 10), [3 << 10]);
}

#[test]
fn a_run_measures_everything_it_was_asked_for_and_is_valid() {
    let result = run_now(&job()).unwrap();
    assert!(result.valid && !result.interrupted);
    let measured: Vec<_> = result
        .passes
        .iter()
        .map(|p| (p.element, p.operation, p.block_bytes))
        .collect();
    let expected = |element| {
        let mark = |bytes| (element, MemoryOperation::Read, bytes);
        [
            mark(1 << 10),
            mark(2 << 10),
            (element, MemoryOperation::Triad, 64 << 10),
        ]
    };
    assert_eq!(
        measured,
        [expected(Element::Int), expected(Element::Float)].concat()
    );
    assert!(
        result
            .passes
            .iter()
            .all(|passes| passes.seconds.len() == 2 && passes.bytes_per_s.is_some())
    );
}

#[test]
fn an_interrupted_run_keeps_nothing_unfinished_and_is_not_valid() {
    let result = run(&job(), &AtomicBool::new(true), &|_| ()).unwrap();
    assert!(result.interrupted && !result.valid && result.passes.is_empty());
}

#[test]
fn arrays_beyond_the_last_cache_are_stored_past_it_where_that_is_possible() {
    let cache = Cache {
        level: 1,
        size_bytes: 1 << 10,
        line_bytes: None,
        shared_by: None,
    };
    let of = |proof, bytes| with_proof!(proof, streams => stores(streams, &job(), &[cache], bytes));
    let portable = Proof::of(Some(Isa::Portable)).unwrap();
    assert_eq!(of(portable, 1 << 20), Ok(Stores::Cached));
    let best = Proof::of(None).unwrap();
    assert_eq!(of(best, 1 << 10), Ok(Stores::Cached));
    if best.isa() != Isa::Portable {
        assert_eq!(of(best, 1 << 20), Ok(Stores::Streaming));
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let refused = |job: RamJob| run_now(&job).unwrap_err();
    let bad = |error: KernelError| matches!(error, KernelError::BadOption { .. });
    assert!(bad(refused(RamJob {
        threads: 0,
        ..job()
    })));
    assert!(bad(refused(RamJob {
        repeats: 0,
        ..job()
    })));
    assert!(bad(refused(RamJob {
        operations: vec![],
        ..job()
    })));
    for (smallest, largest) in [(1 << 10, 100), (100, 2 << 10), (1100, 2 << 10)] {
        assert!(bad(refused(RamJob {
            smallest_block_bytes: smallest,
            largest_block_bytes: largest,
            ..job()
        })));
    }
    assert!(bad(refused(RamJob {
        array_bytes: Some(8),
        ..job()
    })));
    let streaming = RamJob {
        stores: Some(Stores::Streaming),
        isa: Some(Isa::Portable),
        ..job()
    };
    assert!(bad(refused(streaming)));
    let huge = RamJob {
        array_bytes: Some(1 << 60),
        ..job()
    };
    assert!(matches!(refused(huge), KernelError::TooLarge { .. }));
}
