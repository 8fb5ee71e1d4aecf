//! What the operations of a job are: actions by weight, files in turn, and the bytes of uploads.

use std::sync::Arc;

use rand_chacha::rand_core::RngCore;
use steelyard_net::checksum::Checksum;
use steelyard_wire::job::{FtpAction, FtpOperation};

use crate::error::LoadError;
use crate::payload::{FILE_LABEL, Marker, hexadecimal, write_decimal};
use crate::plan::schedule::{Purpose, random_stream};

/// Uploads are made of this page, over and over: large enough for few calls, small enough to stay
/// in a cache, and for the peer to read one while the next is written.
const PAGE_BYTES: usize = 64 * 1024;

/// What all workers share.
#[derive(Debug)]
pub struct Work {
    /// Actions with a weight, each with the end of its share of 2^32.
    actions: Vec<(FtpAction, u64)>,
    /// Paths of files to download.
    pub downloads: Vec<String>,
    /// With a slash at its end, unless it is empty.
    folder: String,
    page: Vec<u8>,
    run: u64,
    upload_bytes: u64,
    /// Of the bytes of an upload, where uploads carry one.
    checksum: Option<u64>,
}

impl Work {
    /// What `operation` asks for; `path` is that of the target.
    pub fn new(
        operation: &FtpOperation,
        path: &str,
        run: u64,
        seed: u64,
    ) -> Result<Arc<Self>, LoadError> {
        let actions = shares(operation)?;
        let has = |wanted| actions.iter().any(|(action, _)| *action == wanted);
        let mut downloads = operation.download.clone();
        if downloads.is_empty() && has(FtpAction::Download) {
            downloads.push(path_of_target(path)?);
        }
        let mut folder = operation.folder.clone();
        if !folder.is_empty() && !folder.ends_with('/') {
            folder.push('/');
        }
        for path in downloads.iter().chain([&folder]) {
            fits_a_command("path", path)?;
        }
        let page = page(seed);
        let checked = operation.verify && has(FtpAction::Upload);
        Ok(Arc::new(Self {
            checksum: checked.then(|| checksum(&page, operation.upload_bytes)),
            actions,
            downloads,
            folder,
            page,
            run,
            upload_bytes: operation.upload_bytes,
        }))
    }

    /// Names of the actions, if there are several.
    pub fn kinds(&self) -> Vec<String> {
        if self.actions.len() == 1 {
            return Vec::new();
        }
        self.actions
            .iter()
            .map(|(action, _)| name(*action).to_owned())
            .collect()
    }

    /// The place among the actions that the random number `draw` falls into.
    pub fn pick(&self, draw: u32) -> usize {
        let draw = u64::from(draw);
        let place = self.actions.iter().position(|(_, end)| draw < *end);
        place.unwrap_or(self.actions.len() - 1)
    }

    /// The action at `place`.
    pub fn action(&self, place: usize) -> FtpAction {
        self.actions[place].0
    }

    /// Whether `action` can happen.
    pub fn has(&self, action: FtpAction) -> bool {
        self.actions.iter().any(|(each, _)| *each == action)
    }

    /// The page that uploads are made of.
    pub fn page(&self) -> &[u8] {
        &self.page
    }

    /// Bytes of an upload behind its marker.
    pub fn upload_bytes(&self) -> u64 {
        self.upload_bytes
    }

    /// Appends the name of an upload; no two are the same.
    pub fn write_upload_name(&self, sender: u64, sequence: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.folder.as_bytes());
        out.extend_from_slice(b"steelyard-");
        out.extend_from_slice(&hexadecimal(self.run));
        for number in [sender, sequence] {
            out.push(b'-');
            write_decimal(number, out);
        }
    }

    /// Writes the first line of an upload; nothing where uploads are not marked.
    pub fn write_marker(&self, sender: u64, sequence: u64, out: &mut Vec<u8>) {
        out.clear();
        let Some(checksum) = self.checksum else {
            return;
        };
        out.extend_from_slice(FILE_LABEL.as_bytes());
        out.extend_from_slice(b": ");
        let marker = Marker {
            run: self.run,
            sender,
            sequence,
            length_bytes: self.upload_bytes,
            checksum,
        };
        marker.write(out);
        out.push(b'\n');
    }

    /// Appends `LIST` with the folder, if there is one.
    pub fn write_list(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"LIST");
        if !self.folder.is_empty() {
            out.push(b' ');
            out.extend_from_slice(self.folder.trim_end_matches('/').as_bytes());
            if self.folder == "/" {
                out.push(b'/');
            }
        }
    }
}

/// Refuses what would end a command early.
pub fn fits_a_command(what: &str, value: &str) -> Result<(), LoadError> {
    if value.chars().any(char::is_control) {
        return Err(LoadError::bad_job(
            format!("{what} {value:?} does not fit an FTP command"),
            "leave out control characters",
        ));
    }
    Ok(())
}

fn shares(operation: &FtpOperation) -> Result<Vec<(FtpAction, u64)>, LoadError> {
    let weights = operation.actions.iter();
    let sound = |weight: f64| weight.is_finite() && weight >= 0.0;
    let total: f64 = weights.clone().map(|(_, weight)| weight).sum();
    let all_sound = weights.clone().all(|(_, weight)| sound(*weight));
    if !(all_sound && sound(total) && total > 0.0) {
        return Err(LoadError::bad_job(
            "the weights of the actions do not add up",
            "give at least one action a weight above 0, and none below",
        ));
    }
    let mut before = 0.0;
    let share = |(action, weight): (&FtpAction, &f64)| {
        before += weight;
        (*action, (before / total * 4_294_967_296.0) as u64)
    };
    Ok(weights
        .filter(|(_, weight)| **weight > 0.0)
        .map(share)
        .collect())
}

fn name(action: FtpAction) -> &'static str {
    match action {
        FtpAction::Login => "login",
        FtpAction::Download => "download",
        FtpAction::Upload => "upload",
        FtpAction::List => "list",
    }
}

/// `/a%20b` means `a b`, from where the login leads to; `/%2Fa` means `/a` (RFC 1738).
fn path_of_target(path: &str) -> Result<String, LoadError> {
    let no_file = || {
        LoadError::bad_job(
            "there is nothing to download",
            "name a file in the target, as ftp://HOST/FILE, or in `download`",
        )
    };
    let encoded = path.strip_prefix('/').unwrap_or(path);
    let mut decoded = Vec::new();
    let mut rest = encoded.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let byte = (*first == b'%')
            .then(|| after.get(..2).and_then(|two| std::str::from_utf8(two).ok()))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(byte.unwrap_or(*first));
        rest = byte.map_or(after, |_| &after[2..]);
    }
    let decoded = String::from_utf8(decoded).map_err(|_| no_file())?;
    if decoded.is_empty() {
        return Err(no_file());
    }
    Ok(decoded)
}

fn page(seed: u64) -> Vec<u8> {
    let mut page = vec![0; PAGE_BYTES];
    random_stream(seed, Purpose::Payload, 0).fill_bytes(&mut page);
    page
}

fn checksum(page: &[u8], mut bytes: u64) -> u64 {
    let mut checksum = Checksum::new();
    while bytes > 0 {
        let part = bytes.min(page.len() as u64);
        checksum.feed(&page[..part as usize]);
        bytes -= part;
    }
    checksum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(operation: &FtpOperation, path: &str) -> Result<Arc<Work>, LoadError> {
        Work::new(operation, path, 7, 1)
    }

    fn weights(all: &[(FtpAction, f64)]) -> FtpOperation {
        FtpOperation {
            actions: all.iter().copied().collect(),
            ..FtpOperation::default()
        }
    }

    #[test]
    fn actions_are_picked_by_their_weight() {
        let operation = weights(&[
            (FtpAction::Upload, 3.0),
            (FtpAction::List, 1.0),
            (FtpAction::Download, 0.0),
        ]);
        let work = work(&operation, "/").unwrap();
        assert_eq!(work.kinds(), ["upload", "list"]);
        let quarter = u32::MAX / 4;
        let picks: Vec<usize> = [0, quarter, 3 * quarter, 3 * quarter + 3, u32::MAX]
            .into_iter()
            .map(|draw| work.pick(draw))
            .collect();
        assert_eq!(picks, [0, 0, 0, 1, 1]);
    }

    #[test]
    fn weights_that_make_no_sense_are_refused() {
        for all in [
            &[][..],
            &[(FtpAction::List, 0.0)],
            &[(FtpAction::List, -1.0), (FtpAction::Upload, 2.0)],
            &[(FtpAction::List, f64::NAN)],
            &[(FtpAction::List, f64::INFINITY)],
        ] {
            assert!(work(&weights(all), "/").is_err(), "{all:?}");
        }
    }

    #[test]
    fn the_file_of_the_target_is_found_from_where_the_login_leads() {
        let file = |path: &str| work(&FtpOperation::default(), path).map(|w| w.downloads.clone());
        assert_eq!(file("/a/b%20c").unwrap(), ["a/b c"]);
        assert_eq!(file("/%2Fetc").unwrap(), ["/etc"]);
        assert_eq!(file("/50%").unwrap(), ["50%"]);
        for bad in ["/", "/a%0d%0aDELE b", "/%ff"] {
            assert!(file(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_two_uploads_have_the_same_name_and_the_folder_stands_before_it() {
        let operation = FtpOperation {
            folder: "in".to_owned(),
            ..weights(&[(FtpAction::Upload, 1.0)])
        };
        let work = work(&operation, "/").unwrap();
        let mut name = Vec::new();
        work.write_upload_name(3, 12, &mut name);
        assert_eq!(name, b"in/steelyard-0000000000000007-3-12");
        let mut list = Vec::new();
        work.write_list(&mut list);
        assert_eq!(list, b"LIST in");
    }

    #[test]
    fn a_marked_upload_says_what_its_pages_add_up_to() {
        let operation = FtpOperation {
            verify: true,
            upload_bytes: PAGE_BYTES as u64 * 2 + 5,
            ..weights(&[(FtpAction::Upload, 1.0)])
        };
        let work = work(&operation, "/").unwrap();
        let mut file = Vec::new();
        work.write_marker(3, 12, &mut file);
        for length in [PAGE_BYTES, PAGE_BYTES, 5] {
            file.extend_from_slice(&work.page()[..length]);
        }
        let mut check = crate::payload::PayloadCheck::file();
        check.feed(&file);
        assert!(matches!(
            check.finish(),
            crate::payload::Finding::Good(marker) if marker.sequence == 12
        ));
    }
}
