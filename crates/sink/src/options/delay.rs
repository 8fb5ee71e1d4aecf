//! Pauses before replies, for calibration: `20ms` before each one, `RCPT:20ms` before one verb's.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::options::fault::ParseError;

/// A pause between reading a command and answering it, never shorter than said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delay {
    /// A verb of the protocol in capitals, or `*` for each of them but `CONNECT`.
    pub verb: String,
    /// Length of the pause.
    pub delay_ns: u64,
}

impl Delay {
    /// Reads `DURATION` or `VERB:DURATION` with a unit of ns, us, ms or s.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let (verb, duration) = text.split_once(':').unwrap_or(("*", text));
        let delay_ns =
            duration_ns(duration.trim()).ok_or_else(|| ParseError::Delay(text.to_owned()))?;
        if verb.trim().is_empty() {
            return Err(ParseError::Delay(text.to_owned()));
        }
        Ok(Self {
            verb: verb.trim().to_ascii_uppercase(),
            delay_ns,
        })
    }
}

/// Longest delay taken: an hour.
const LONGEST_NS: f64 = 3_600e9;

fn duration_ns(text: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 5] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ];
    let (number, scale) = UNITS
        .iter()
        .find_map(|(unit, scale)| text.strip_suffix(unit).map(|number| (number, scale)))?;
    let ns = number.trim().parse::<f64>().ok()? * scale;
    (0.0..=LONGEST_NS)
        .contains(&ns)
        .then_some(ns.round() as u64)
}

impl FromStr for Delay {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}ns", self.verb, self.delay_ns)
    }
}

impl TryFrom<String> for Delay {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        Self::parse(&text)
    }
}

impl From<Delay> for String {
    fn from(delay: Delay) -> Self {
        delay.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_read_with_and_without_a_verb() {
        let read = |text| Delay::parse(text).map(|delay| (delay.verb, delay.delay_ns));
        assert_eq!(read("20ms"), Ok(("*".to_owned(), 20_000_000)));
        assert_eq!(read("rcpt:1.5s"), Ok(("RCPT".to_owned(), 1_500_000_000)));
        assert_eq!(read("250 us"), Ok(("*".to_owned(), 250_000)));
    }

    #[test]
    fn a_delay_without_unit_or_below_zero_is_refused() {
        for text in ["20", "-1ms", "soon", ":20ms", "NaNs", "2h", "4000s"] {
            assert!(Delay::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_written_delay_is_read_back() {
        let delay = Delay::parse("DATA:1us").unwrap();
        assert_eq!(Delay::parse(&delay.to_string()).unwrap(), delay);
    }
}
