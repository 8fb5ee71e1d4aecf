//! HTTP/2 with the `h2` crate as client: it checks every frame and header block it is sent.

use std::future::poll_fn;

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, Response};
use steelyard_net::checksum::Checksum;
use steelyard_sink::{BodyEnd, Delay, Fault, Protocol, SinkOptions};
use tokio::net::TcpStream;

use crate::running::{Running, http, options, start};

mod faults;

fn run<F: Future>(work: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

async fn connect(sink: &Running, builder: &Builder) -> SendRequest<Bytes> {
    let stream = TcpStream::connect(sink.address).await.unwrap();
    let (client, connection) = builder.handshake(stream).await.unwrap();
    tokio::spawn(connection);
    client.ready().await.unwrap()
}

fn request(method: &str, path: &str) -> Request<()> {
    Request::builder()
        .method(method)
        .uri(format!("http://a{path}"))
        .body(())
        .unwrap()
}

async fn ask(client: &mut SendRequest<Bytes>, request: Request<()>) -> ResponseFuture {
    poll_fn(|cx| client.poll_ready(cx)).await.unwrap();
    client.send_request(request, true).unwrap().0
}

async fn body(mut stream: RecvStream) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(part) = stream.data().await {
        let part = part.unwrap();
        all.extend_from_slice(&part);
        stream.flow_control().release_capacity(part.len()).unwrap();
    }
    all
}

async fn get(client: &mut SendRequest<Bytes>, path: &str) -> (Response<()>, Vec<u8>) {
    let reply = ask(client, request("GET", path)).await.await.unwrap();
    let (head, stream) = reply.into_parts();
    (Response::from_parts(head, ()), body(stream).await)
}

#[test]
fn a_client_with_prior_knowledge_is_answered_in_http_2() {
    let sink = http();
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        for _ in 0..3 {
            let (head, body) = get(&mut client, "/").await;
            assert_eq!((head.status().as_u16(), body.len()), (200, 128));
            assert_eq!(head.headers()["content-length"], "128");
            assert_eq!(head.headers()["server"], "steelyard");
            assert!(head.headers()["date"].to_str().unwrap().ends_with(" GMT"));
        }
    });
    let counters = sink.finish();
    assert_eq!((counters.connections, counters.ok), (1, 3));
    assert!(counters.errors.is_empty(), "{:?}", counters.errors);
}

#[test]
fn a_path_chooses_status_and_body_as_in_http_1() {
    let sink = http();
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        for (path, status, length, announced) in [
            ("/status/404", 404, 128, true),
            ("/status/299", 299, 128, true),
            ("/status/204", 204, 0, false),
            ("/bytes/0", 200, 0, true),
            ("/bytes/16384", 200, 16_384, true),
            ("/bytes/16385", 200, 16_385, true),
            ("/bytes/1000000", 200, 1_000_000, true),
            ("/chunked/1000", 200, 1000, false),
            ("/close/100000", 200, 100_000, false),
        ] {
            let (head, body) = get(&mut client, path).await;
            assert_eq!((head.status().as_u16(), body.len()), (status, length));
            assert_eq!(
                head.headers().contains_key("content-length"),
                announced,
                "{path}"
            );
        }
        let head = ask(&mut client, request("HEAD", "/")).await.await.unwrap();
        assert_eq!(head.headers()["content-length"], "128");
        assert!(head.body().is_end_stream());
    });
    assert_eq!(sink.finish().ok, 10);
}

#[test]
fn many_streams_at_once_are_each_answered_with_their_own() {
    let sink = http();
    let mut builder = Builder::new();
    // Bodies that no one reads yet take up the connection's window.
    builder.initial_connection_window_size(1 << 24);
    run(async {
        let mut client = connect(&sink, &builder).await;
        for _ in 0..5 {
            let mut waiting = Vec::new();
            for length in 0..200_usize {
                let path = format!("/bytes/{}", length * 100);
                waiting.push((length * 100, ask(&mut client, request("GET", &path)).await));
            }
            for (length, reply) in waiting {
                assert_eq!(body(reply.await.unwrap().into_body()).await.len(), length);
            }
        }
    });
    assert_eq!(sink.finish().ok, 1000);
}

#[test]
fn a_body_waits_for_the_windows_of_stream_and_connection() {
    let sink = http();
    let mut small = Builder::new();
    small
        .initial_window_size(100)
        .initial_connection_window_size(70_000);
    run(async {
        let mut client = connect(&sink, &small).await;
        let first = ask(&mut client, request("GET", "/bytes/5000")).await;
        let second = ask(&mut client, request("GET", "/bytes/5000")).await;
        let (first, second) = (first.await.unwrap(), second.await.unwrap());
        // The second is read to its end while the first one's window stays shut.
        assert_eq!(body(second.into_body()).await.len(), 5000);
        let whole = body(first.into_body()).await;
        assert!(whole.starts_with(b"steelyard weighs") && whole.len() == 5000);
        assert_eq!(whole[64..128], whole[..64]);
    });
    assert_eq!(sink.finish().ok, 2);
}

#[test]
fn the_client_may_change_its_windows_while_a_body_waits() {
    let sink = http();
    run(async {
        let stream = TcpStream::connect(sink.address).await.unwrap();
        let mut builder = Builder::new();
        builder.initial_window_size(10);
        let (mut client, mut connection) = builder.handshake::<_, Bytes>(stream).await.unwrap();
        let reply = ask(&mut client, request("GET", "/bytes/300000")).await;
        let reply = tokio::select! {
            reply = reply => reply.unwrap(),
            ended = &mut connection => panic!("{ended:?}"),
        };
        connection.set_initial_window_size(1 << 20).unwrap();
        tokio::spawn(connection);
        assert_eq!(body(reply.into_body()).await.len(), 300_000);
    });
    assert_eq!(sink.finish().ok, 1);
}

#[test]
fn a_request_body_beyond_every_window_is_read_to_its_end() {
    let sink = http();
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        let (reply, mut upload) = client
            .send_request(request("POST", "/bytes/3"), false)
            .unwrap();
        let mut left = 40_000_000_usize;
        while left > 0 {
            upload.reserve_capacity(left.min(1 << 20));
            let room = poll_fn(|cx| upload.poll_capacity(cx))
                .await
                .unwrap()
                .unwrap();
            left -= room;
            upload.send_data(vec![b'x'; room].into(), false).unwrap();
        }
        let mut trailers = HeaderMap::new();
        trailers.insert("x-end", "yes".parse().unwrap());
        upload.send_trailers(trailers).unwrap();
        assert_eq!(body(reply.await.unwrap().into_body()).await.len(), 3);
        assert_eq!(get(&mut client, "/").await.1.len(), 128);
    });
    let counters = sink.finish();
    assert_eq!((counters.received, counters.ok), (2, 2));
    assert!(counters.bytes_in > 40_000_000);
}

#[test]
fn header_blocks_in_several_frames_and_a_shrinking_table_are_read() {
    let sink = http();
    let mut builder = Builder::new();
    builder.header_table_size(100);
    run(async {
        let mut client = connect(&sink, &builder).await;
        for round in 0..20 {
            let mut request = request("GET", "/bytes/1");
            for number in 0..10 {
                let name: http::HeaderName = format!("x-{number}").parse().unwrap();
                let value = format!("{round}-{}", "v".repeat(number * 60));
                request.headers_mut().insert(name, value.parse().unwrap());
            }
            let long = "l".repeat(9_000);
            request
                .headers_mut()
                .insert("x-long", long.parse().unwrap());
            let reply = ask(&mut client, request).await.await.unwrap();
            assert_eq!(body(reply.into_body()).await.len(), 1);
        }
    });
    assert_eq!(sink.finish().ok, 20);
}

#[test]
fn a_head_above_the_limit_is_answered_with_431() {
    let sink = http();
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        // The crate heeds the announced limit of lists, so the sum has to come of many names.
        let mut large = request("GET", "/");
        for number in 0..450 {
            let name: http::HeaderName = format!("x-{number}").parse().unwrap();
            large.headers_mut().insert(name, "v".parse().unwrap());
        }
        if let Ok(reply) = ask(&mut client, large).await.await {
            assert_eq!(reply.status(), 431);
        }
        assert_eq!(get(&mut client, "/").await.0.status(), 200);
    });
    sink.finish();
}

#[test]
fn a_payload_names_its_request_and_fits_its_body() {
    let sink = http();
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        let mut asked = request("GET", "/bytes/777");
        let value = "v1 00000000000000ab 5 9 0 ef46db3751d8e999";
        asked
            .headers_mut()
            .insert("x-steelyard-payload", value.parse().unwrap());
        let reply = ask(&mut client, asked).await.await.unwrap();
        let said = reply.headers()["x-steelyard-payload"].clone();
        let sum = Checksum::of(&body(reply.into_body()).await);
        assert_eq!(
            said,
            format!("v1 00000000000000ab 5 9 777 {sum:016x}").as_str()
        );
    });
    sink.finish();
}

#[test]
fn an_interim_reply_comes_before_the_final_one() {
    let mut early = options(Protocol::Http);
    early.http.interim = Some(103);
    early.http.body_end = BodyEnd::Chunked;
    let sink = start(early);
    run(async {
        let mut client = connect(&sink, &Builder::new()).await;
        let (head, body) = get(&mut client, "/").await;
        assert_eq!((head.status().as_u16(), body.len()), (200, 128));
        assert!(!head.headers().contains_key("content-length"));
    });
    sink.finish();
}

#[test]
fn a_stop_says_goodbye() {
    let sink = http();
    run(async {
        let stream = TcpStream::connect(sink.address).await.unwrap();
        let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        get(&mut client, "/").await;
        sink.pull();
        // GOAWAY without an error is an orderly end.
        connection.await.unwrap().unwrap();
    });
    sink.finish();
}
