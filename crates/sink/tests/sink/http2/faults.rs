//! Faults and delays strike one stream.

use super::*;

fn faulty(fault: &str) -> SinkOptions {
    let mut options = options(Protocol::Http);
    options.faults = vec![Fault::parse(fault).unwrap()];
    options
}

#[test]
fn a_refusal_strikes_the_stream_and_not_the_connection() {
    let sink = start(faulty("GET:tempfail"));
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        for _ in 0..2 {
            let (head, _) = get(&mut client, "/").await;
            assert_eq!(head.status(), 503);
            assert_eq!(head.headers()["retry-after"], "1");
        }
    });
    assert_eq!(sink.finish().failed, 2);
}

#[test]
fn a_reset_and_a_stall_strike_one_stream() {
    for kind in ["reset", "stall"] {
        let sink = start(faulty(&format!("POST:{kind}")));
        run(async {
            let mut client = connect(&sink, &Builder::new()).await;
            let struck = ask(&mut client, request("POST", "/")).await;
            assert_eq!(get(&mut client, "/").await.0.status(), 200);
            if kind == "reset" {
                let error = struck.await.unwrap_err();
                assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
            }
        });
        let counters = sink.finish();
        assert_eq!((counters.unanswered, counters.ok), (1, 1), "{kind}");
    }
}

#[test]
fn damaged_replies_end_the_connection_for_the_client() {
    for kind in ["drop", "garbage", "short"] {
        let sink = start(faulty(&format!("GET:{kind}")));
        run(async {
            let mut client = connect(&sink, &Builder::new()).await;
            match ask(&mut client, request("GET", "/")).await.await {
                Err(error) => assert!(error.is_io() || error.is_go_away(), "{error}"),
                Ok(reply) => {
                    assert_eq!(kind, "short");
                    reply.into_body().data().await.unwrap().unwrap_err();
                }
            }
        });
        let counters = sink.finish();
        assert_eq!((counters.received, counters.ok), (1, 0), "{kind}");
    }
}

#[test]
fn a_slow_and_a_delayed_reply_come_whole() {
    let mut late = faulty("GET:slow:1/2");
    late.delays = vec![Delay::parse("1ms").unwrap()];
    let sink = start(late);
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        for _ in 0..4 {
            assert_eq!(get(&mut client, "/bytes/20").await.1.len(), 20);
        }
    });
    assert_eq!(sink.finish().ok, 4);
}

#[test]
fn a_slow_stream_delays_no_other() {
    let mut late = options(Protocol::Http);
    late.delays = ["POST:1s", "GET:1ms"]
        .map(|text| Delay::parse(text).unwrap())
        .to_vec();
    late.delays[0].delay_ns = u64::from(u32::MAX) * 1_000;
    let sink = start(late);
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        // Not answered within the hour; whoever waited for it would never get here.
        let slow = ask(&mut client, request("POST", "/bytes/20")).await;
        for bytes in [20, 200_000] {
            let path = format!("/bytes/{bytes}");
            assert_eq!(get(&mut client, &path).await.1.len(), bytes);
        }
        drop(slow);
        // The reset of the slow stream is read before this.
        assert_eq!(get(&mut client, "/bytes/3").await.1.len(), 3);
    });
    let counters = sink.finish();
    assert_eq!((counters.received, counters.ok), (4, 3));
    assert_eq!(counters.unanswered, 1);
}

#[test]
fn delayed_streams_are_answered_in_the_order_of_their_times() {
    let mut late = options(Protocol::Http);
    late.delays = vec![Delay::parse("1ms").unwrap()];
    let sink = start(late);
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        let mut replies = Vec::new();
        for _ in 0..50 {
            replies.push(ask(&mut client, request("GET", "/bytes/9")).await);
        }
        for reply in replies {
            assert_eq!(body(reply.await.unwrap().into_body()).await.len(), 9);
        }
    });
    let counters = sink.finish();
    assert_eq!((counters.ok, counters.unanswered), (50, 0));
    assert_eq!(counters.lateness.unwrap().count, 50);
}
