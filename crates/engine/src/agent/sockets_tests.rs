use super::*;

const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt
   0: 0100007F:0019 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 0100007F:0050 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1
";
const TCP6: &str = "  sl  local_address                         remote_address
   0: 00000000000000000000000000000000:008F 00000000000000000000000000000000:0000 0A 0 0 0
   1: 00000000000000000000000001000000:03E1 00000000000000000000000000000000:0000 0A 0 0 0
";
const UDP: &str = "   sl  local_address rem_address   st tx_queue rx_queue
  100: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 3 2
";
const UNIX: &str = "Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 19427 /run/lmtp
0000000000000000: 00000003 00000000 00000000 0001 03 19428 /run/lmtp
0000000000000000: 00000002 00000000 00000000 0002 01   419 /run/log with blank
";

fn machine(six_only: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let files = [
        ("proc/net/tcp", TCP),
        ("proc/net/tcp6", TCP6),
        ("proc/net/udp", UDP),
        ("proc/net/unix", UNIX),
        ("proc/sys/net/ipv6/bindv6only", six_only),
    ];
    for (name, content) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    root
}

fn port(address: &str, port: u16) -> Place {
    Place::Port {
        address: (!address.is_empty()).then(|| address.parse().unwrap()),
        port,
        transport: Transport::Tcp,
    }
}

fn unix(path: &str, transport: Transport) -> Place {
    Place::Unix {
        path: path.to_owned(),
        transport,
    }
}

#[test]
fn who_listens_at_the_address_or_anywhere_is_found() {
    let root = machine("0\n");
    let at = |address, number| look(root.path(), &port(address, number)).unwrap();
    assert_eq!(at("127.0.0.1", 25), Found::Yes);
    assert_eq!(at("", 25), Found::Yes);
    assert_eq!(at("::1", 993), Found::Yes);
    assert_eq!(at("::1", 143), Found::Yes, "a wildcard serves all");
    assert_eq!(at("10.0.0.1", 143), Found::Yes, "that of IPv6 also IPv4");
}

#[test]
fn who_listens_elsewhere_on_the_port_is_named() {
    let root = machine("0\n");
    let at = |address, number| look(root.path(), &port(address, number)).unwrap();
    assert_eq!(
        at("10.0.0.1", 25),
        Found::No(vec!["127.0.0.1:25".to_owned()])
    );
    assert_eq!(
        at("", 80),
        Found::No(Vec::new()),
        "a connection is no listener"
    );
}

#[test]
fn a_wildcard_of_ipv6_alone_does_not_serve_ipv4() {
    let root = machine("1\n");
    let found = look(root.path(), &port("10.0.0.1", 143)).unwrap();
    assert_eq!(found, Found::No(vec!["[::]:143".to_owned()]));
}

#[test]
fn datagrams_have_a_table_of_their_own() {
    let root = machine("0\n");
    let place = |transport| Place::Port {
        address: None,
        port: 53,
        transport,
    };
    assert_eq!(
        look(root.path(), &place(Transport::Udp)).unwrap(),
        Found::Yes
    );
    let found = look(root.path(), &place(Transport::Tcp)).unwrap();
    assert_eq!(found, Found::No(Vec::new()));
}

#[test]
fn a_unix_socket_must_take_what_it_is_given() {
    let root = machine("0\n");
    let at = |path, transport| look(root.path(), &unix(path, transport)).unwrap();
    assert_eq!(at("/run/lmtp", Transport::Tcp), Found::Yes);
    assert_eq!(at("/run/log with blank", Transport::Udp), Found::Yes);
    assert_eq!(
        at("/run/log with blank", Transport::Tcp),
        Found::No(vec!["one for datagrams".to_owned()])
    );
    assert_eq!(at("/run/lm", Transport::Tcp), Found::No(Vec::new()));
}

#[test]
fn a_place_is_said_in_words() {
    assert_eq!(port("::1", 25).to_string(), "TCP [::1]:25");
    assert_eq!(port("", 25).to_string(), "TCP port 25");
}
