//! Every body that a run may send, prepared before it begins.

use std::fs;
use std::ops::Range;
use std::path::Path;

use rand_chacha::rand_core::RngCore;
use steelyard_net::checksum::Checksum;
use steelyard_wire::job::SmtpOperation;

use super::choice::{self, Chosen};
use super::mime::{self, Attachment, Encoding, Text};
use crate::error::LoadError;
use crate::payload::{hexadecimal, write_decimal};
use crate::plan::schedule::{Purpose, random_stream};

/// Texts times attachments up to here are all prepared; of more, each is used at least once.
const MOST_PAIRS: usize = 256;

/// All prepared bodies together; more would rather measure the generator's memory.
const MOST_BYTES: usize = 1 << 30;

/// Prepared bodies, one behind the other.
#[derive(Debug, Clone, Default)]
pub struct Bodies {
    /// As they are sent, from the last fields of the header to the final dot (none with BDAT).
    pub bytes: Vec<u8>,
    each: Vec<Body>,
    bounds: Vec<u64>,
}

/// One prepared body.
#[derive(Debug, Clone)]
pub struct Body {
    /// Where it lies in [`Bodies::bytes`].
    pub range: Range<usize>,
    /// Length and checksum as they end the marker's line.
    pub mark: Vec<u8>,
    /// Not all of it is ASCII.
    pub eight_bit: bool,
}

impl Bodies {
    pub fn new(operation: &SmtpOperation, seed: u64) -> Result<Self, LoadError> {
        let (texts, weights) = texts(operation)?;
        let attachments = attachments(operation, seed)?;
        let mut all = Self::default();
        let mut chances = Vec::new();
        for (text, attachment) in pairs(texts.len(), attachments.len()) {
            let attachment = attachment.map(|index| &attachments[index]);
            all.add(&texts[text], attachment, operation.chunking);
            chances.push(weights[text]);
            if all.bytes.len() > MOST_BYTES {
                return Err(LoadError::bad_job(
                    "the bodies of this run need more than 1 GiB together",
                    "use fewer or smaller files",
                ));
            }
        }
        all.bounds = choice::bounds(&chances);
        Ok(all)
    }

    /// The one that `draw` decides on.
    pub fn choose(&self, draw: u64) -> &Body {
        &self.each[choice::weighted(draw, Chosen::Body, &self.bounds)]
    }

    /// Whether any needs a server that takes eight bits.
    pub fn any_eight_bit(&self) -> bool {
        self.each.iter().any(|body| body.eight_bit)
    }

    fn add(&mut self, text: &Text, attachment: Option<&Attachment>, raw: bool) {
        let (fields, body) = mime::entity(text, attachment);
        let mut mark = b" ".to_vec();
        write_decimal(body.len() as u64, &mut mark);
        mark.push(b' ');
        mark.extend_from_slice(&hexadecimal(Checksum::of(&body)));
        mark.extend_from_slice(b"\r\n");
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&fields);
        if raw {
            self.bytes.extend_from_slice(&body);
        } else {
            self.bytes
                .extend_from_slice(&mime::with_dots_doubled(&body));
            self.bytes.extend_from_slice(b".\r\n");
        }
        self.each.push(Body {
            range: start..self.bytes.len(),
            mark,
            eight_bit: text.encoding == Encoding::EightBit,
        });
    }
}

/// Which text goes with which attachment.
fn pairs(texts: usize, attachments: usize) -> Vec<(usize, Option<usize>)> {
    if attachments == 0 {
        return (0..texts).map(|text| (text, None)).collect();
    }
    if texts * attachments <= MOST_PAIRS {
        return (0..texts)
            .flat_map(|text| (0..attachments).map(move |index| (text, Some(index))))
            .collect();
    }
    (0..texts.max(attachments))
        .map(|index| (index % texts, Some(index % attachments)))
        .collect()
}

fn texts(operation: &SmtpOperation) -> Result<(Vec<Text>, Vec<f64>), LoadError> {
    if !operation.body_files.is_empty() {
        let texts: Vec<Text> = operation
            .body_files
            .iter()
            .map(|path| read(path).map(|bytes| Text::of_file(&bytes)))
            .collect::<Result<_, _>>()?;
        let weights = vec![1.0; texts.len()];
        return Ok((texts, weights));
    }
    if operation.body_sizes.is_empty() {
        return Ok((vec![generated(operation.body_bytes)?], vec![1.0]));
    }
    let texts = operation
        .body_sizes
        .iter()
        .map(|(bytes, _)| generated(*bytes))
        .collect::<Result<_, _>>()?;
    let weights = operation.body_sizes.iter().map(|(_, weight)| *weight);
    Ok((texts, weights.collect()))
}

fn generated(bytes: u64) -> Result<Text, LoadError> {
    Ok(Text::generated(bounded(bytes)?))
}

fn attachments(operation: &SmtpOperation, seed: u64) -> Result<Vec<Attachment>, LoadError> {
    if operation.attachment_files.is_empty() {
        return match operation.attachment_bytes {
            0 => Ok(Vec::new()),
            bytes => Ok(vec![random_attachment(bounded(bytes)?, seed)]),
        };
    }
    let attachment = |path: &String| {
        Ok(Attachment {
            name: file_name(path),
            bytes: read(path)?,
        })
    };
    operation.attachment_files.iter().map(attachment).collect()
}

fn random_attachment(length: usize, seed: u64) -> Attachment {
    let mut bytes = vec![0; length];
    random_stream(seed, Purpose::Payload, 0).fill_bytes(&mut bytes);
    Attachment {
        name: "attachment.bin".to_owned(),
        bytes,
    }
}

fn bounded(bytes: u64) -> Result<usize, LoadError> {
    usize::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes <= MOST_BYTES)
        .ok_or_else(|| {
            LoadError::bad_job(
                format!("a message of {bytes} bytes is too large"),
                "1 GiB is the most",
            )
        })
}

fn read(path: &str) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|error| {
        LoadError::bad_job(
            format!("{path} cannot be read: {error}"),
            "files are read on the machine that generates the load",
        )
    })
}

fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(
        || path.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_and_every_attachment_is_used() {
        assert_eq!(pairs(2, 0), [(0, None), (1, None)]);
        assert_eq!(pairs(2, 2).len(), 4);
        let many = pairs(3, 1_000);
        assert_eq!(many.len(), 1_000);
        for text in 0..3 {
            assert!(many.iter().any(|pair| pair.0 == text));
        }
    }

    #[test]
    fn sizes_are_drawn_by_their_weights() {
        let operation = SmtpOperation {
            body_sizes: vec![(1_000, 90.0), (50_000, 10.0)],
            ..SmtpOperation::default()
        };
        let bodies = Bodies::new(&operation, 1).unwrap();
        let large = (0..1_000)
            .filter(|draw| bodies.choose(*draw).range.len() > 50_000)
            .count();
        assert!((60..150).contains(&large), "{large}");
    }

    #[test]
    fn a_file_that_is_not_there_refuses_the_job() {
        let operation = SmtpOperation {
            body_files: vec!["/nowhere/at/all".to_owned()],
            ..SmtpOperation::default()
        };
        let error = Bodies::new(&operation, 1).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
