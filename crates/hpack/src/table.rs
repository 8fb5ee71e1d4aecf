//! The static table and the dynamic one, by one index.

use std::collections::VecDeque;

/// What an entry counts beyond its bytes (RFC 7541, 4.1).
const ENTRY_BYTES: usize = 32;

/// Entries of the static table.
pub const STATIC_FIELDS: usize = STATIC.len();
/// Index of the first of the static table's entries for `:status`, which are [`STATUSES`].
pub const FIRST_STATUS: usize = 8;
/// What these entries say.
pub const STATUSES: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];

/// RFC 7541, Appendix A; its first entry has index 1.
#[rustfmt::skip]
const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
    (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
    (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""),
    ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""),
    ("authorization", ""), ("cache-control", ""), ("content-disposition", ""),
    ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""),
    ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
    ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
    ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""),
    ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""),
    ("vary", ""), ("via", ""), ("www-authenticate", ""),
];

#[derive(Debug)]
struct Entry {
    bytes: Box<[u8]>,
    name_bytes: usize,
}

impl Entry {
    fn size(&self) -> usize {
        self.bytes.len() + ENTRY_BYTES
    }
}

/// Both tables.
#[derive(Debug)]
pub struct Table {
    /// Newest first.
    entries: VecDeque<Entry>,
    used: usize,
    limit: usize,
    version: u64,
}

impl Table {
    pub fn new(limit: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            used: 0,
            limit,
            version: 0,
        }
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    /// The field with this index.
    pub fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let place = index.checked_sub(1)?;
        if let Some((name, value)) = STATIC.get(place) {
            return Some((name.as_bytes(), value.as_bytes()));
        }
        let entry = self.entries.get(place - STATIC.len())?;
        Some(entry.bytes.split_at(entry.name_bytes))
    }

    /// Adds a field; one larger than the table empties it, which is no error.
    pub fn insert(&mut self, name: &[u8], value: &[u8]) {
        self.version += 1;
        let entry = Entry {
            bytes: [name, value].concat().into(),
            name_bytes: name.len(),
        };
        let size = entry.size();
        self.evict(self.limit.saturating_sub(size));
        if size <= self.limit {
            self.used += size;
            self.entries.push_front(entry);
        }
    }

    pub fn resize(&mut self, limit: usize) {
        self.version += 1;
        self.limit = limit;
        self.evict(limit);
    }

    fn evict(&mut self, most: usize) {
        while self.used > most {
            let Some(oldest) = self.entries.pop_back() else {
                return;
            };
            self.used -= oldest.size();
        }
    }
}
