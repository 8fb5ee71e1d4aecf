use super::*;

#[test]
fn a_body_waits_for_the_windows_of_the_server() {
    let operation = HttpOperation {
        method: "POST".to_owned(),
        body: "x".repeat(100),
        ..usual(2)
    };
    let mut client = Client::new(&operation, &[(INITIAL_WINDOW_SIZE, 30)]);
    client.start(0);
    assert_eq!(client.frames()[1..], [(DATA, 1, 30)]);
    client.sent.clear();
    client.feed(&frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 50]));
    client.feed(&settings(&[(INITIAL_WINDOW_SIZE, 100)]));
    assert_eq!(
        client.frames(),
        [(DATA, 1, 50), (SETTINGS, 0, 0), (DATA, 1, 20)]
    );
    let flags: Vec<u8> = vec![client.sent[4], client.sent[client.sent.len() - 25]];
    assert_eq!(flags, [0, END_STREAM]);
}

#[test]
fn all_bodies_together_stay_within_the_window_of_the_connection() {
    let operation = HttpOperation {
        method: "POST".to_owned(),
        body: "x".repeat(40_000),
        ..usual(2)
    };
    let mut client = Client::new(&operation, &[]);
    client.start(0).start(1);
    let sent = |client: &Client| -> usize {
        let frames = client.frames();
        let data = frames.iter().filter(|frame| frame.0 == DATA);
        data.map(|frame| frame.2).sum()
    };
    assert_eq!(sent(&client), USUAL_WINDOW as usize);
    assert!(client.frames().iter().all(|frame| frame.2 <= 16_384));
    client.feed(&frame(WINDOW_UPDATE, 0, 0, &[0, 1, 0, 0]));
    assert_eq!(sent(&client), 80_000);
}

#[test]
fn credit_is_given_back_in_large_portions() {
    let mut session = Session::new(0, 1);
    session.open_stream(0, Asked::default());
    for _ in 0..1 << 16 {
        session.use_credit(0, 16_384).unwrap();
    }
    let stream = frame(WINDOW_UPDATE, 0, 1, &(1_u32 << 30).to_be_bytes());
    let whole = frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 30).to_be_bytes());
    assert_eq!(session.owed, [whole, stream].concat());
}
