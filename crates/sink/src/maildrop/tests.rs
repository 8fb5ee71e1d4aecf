//! Maildrops: identity of messages, bounds, leases and watches.

use super::*;

fn drops(most_bytes: u64) -> Maildrops {
    Maildrops::new(&MailOptions {
        most_bytes,
        ..MailOptions::default()
    })
    .unwrap()
}

fn deliver(drops: &Maildrops, to: &[&str], bytes: usize) -> Result<Stored, StoreError> {
    let to: Vec<String> = to.iter().map(|name| (*name).to_owned()).collect();
    drops.deliver(&to, vec![b'x'; bytes], 0)
}

#[test]
fn a_uid_is_never_used_twice() {
    let drops = drops(10_000);
    deliver(&drops, &["a"], 10).unwrap();
    let drop = drops.of("a").unwrap();
    drop.lock().remove(|_| true);
    deliver(&drops, &["a"], 10).unwrap();
    assert_eq!(drop.lock().mails[0].uid, 2);
    assert!(drop.lock().find(1).is_none());
}

#[test]
fn full_memory_refuses_and_removed_messages_make_room() {
    let drops = drops(2_000);
    deliver(&drops, &["a"], 1_000).unwrap();
    assert_eq!(
        deliver(&drops, &["a", "b"], 1_000),
        Err(StoreError::NoSpace)
    );
    drops.of("a").unwrap().lock().remove(|_| true);
    deliver(&drops, &["a"], 1_000).unwrap();
}

#[test]
fn a_message_to_many_takes_its_bytes_once() {
    let drops = drops(3_000);
    let stored = deliver(&drops, &["a", "b", "c"], 1_500).unwrap();
    assert_eq!((stored.files, stored.bytes), (3, 4_500));
}

#[test]
fn a_lease_is_given_once_at_a_time() {
    let drop = drops(1_000).of("a").unwrap();
    let lease = drop.lease().unwrap();
    assert!(drop.lease().is_none());
    std::mem::drop(lease);
    assert!(drop.lease().is_some());
}

#[test]
fn who_watches_gets_word_until_the_watch_ends() {
    let drops = drops(10_000);
    let inbox = Arc::new(Inbox::new().unwrap());
    let watch = drops.of("a").unwrap().watch(&inbox, 7);
    deliver(&drops, &["a"], 10).unwrap();
    std::mem::drop(watch);
    deliver(&drops, &["a"], 10).unwrap();
    let mut events = Vec::new();
    inbox.collect(&mut events);
    assert!(matches!(events[..], [LoopEvent::Woken(7)]), "{events:?}");
}

#[test]
fn named_users_need_their_password_and_no_one_named_admits_all() {
    let open = drops(1_000);
    assert!(open.admits("a", "anything") && !open.admits("", "x"));
    let closed = Maildrops::new(&MailOptions {
        users: vec![crate::options::User {
            name: "a@b".to_owned(),
            password: "p".to_owned(),
        }],
        ..MailOptions::default()
    })
    .unwrap();
    assert!(closed.admits("a@b", "p"));
    assert!(!closed.admits("a@b", "q") && !closed.admits("a", "p"));
}
