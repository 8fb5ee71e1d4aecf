//! Faults to inject: what strikes, how, and how often; drawn without hidden state.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a struck command gets instead of its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A permanent refusal: SMTP 550, HTTP 503.
    Reject,
    /// A refusal for now: SMTP 451, HTTP 503 with `Retry-After`.
    Tempfail,
    /// The connection is closed without a reply.
    Drop,
    /// The connection is reset (RST) without a reply.
    Reset,
    /// No reply, ever; the connection stays open.
    Stall,
    /// Bytes that are no reply of the protocol.
    Garbage,
    /// The first half of the reply, then the connection is closed.
    Short,
    /// The reply byte by byte, one every 5 ms.
    Slow,
}

impl FaultKind {
    /// Every kind, in the order of the counters.
    pub const ALL: [Self; 8] = [
        Self::Reject,
        Self::Tempfail,
        Self::Drop,
        Self::Reset,
        Self::Stall,
        Self::Garbage,
        Self::Short,
        Self::Slow,
    ];

    /// As written in `VERB:KIND:ODDS` and in the counters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::Tempfail => "tempfail",
            Self::Drop => "drop",
            Self::Reset => "reset",
            Self::Stall => "stall",
            Self::Garbage => "garbage",
            Self::Short => "short",
            Self::Slow => "slow",
        }
    }
}

/// One fault: `VERB:KIND` or `VERB:KIND:ODDS`.
///
/// ODDS is a share (`0.05`), a percentage (`5%`) or a ratio (`1/20`); 1 when left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fault {
    /// A verb of the protocol in capitals, or `*` for each of them but `CONNECT`.
    pub verb: String,
    /// What happens.
    pub kind: FaultKind,
    /// Share of the verb's commands that are struck, above 0 and at most 1.
    pub odds: f64,
}

/// Why a fault or a delay could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not `VERB:KIND[:ODDS]`.
    #[error("{0:?} is not VERB:KIND or VERB:KIND:ODDS, for example RCPT:tempfail:5%")]
    Shape(String),
    /// No such kind.
    #[error(
        "{0:?} is no kind of fault; one of reject, tempfail, drop, reset, stall, garbage, short, slow"
    )]
    Kind(String),
    /// Not a share above 0 and up to 1.
    #[error("{0:?} are no odds; a share above 0 and up to 1, as 0.05, 5% or 1/20")]
    Odds(String),
    /// Not a duration.
    #[error("{0:?} is no delay; a number and a unit, as 250us, 20ms, 1.5s or RCPT:20ms")]
    Delay(String),
}

impl Fault {
    /// Reads `VERB:KIND[:ODDS]`; whether the protocol knows the verb is seen at the start.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut parts = text.splitn(3, ':');
        let (Some(verb), Some(kind)) = (parts.next(), parts.next()) else {
            return Err(ParseError::Shape(text.to_owned()));
        };
        if verb.trim().is_empty() {
            return Err(ParseError::Shape(text.to_owned()));
        }
        Ok(Self {
            verb: verb.trim().to_ascii_uppercase(),
            kind: parse_kind(kind)?,
            odds: parts.next().map_or(Ok(1.0), parse_odds)?,
        })
    }

    /// Whether the `nth` command that fits is struck: a pure function, the same in every run.
    pub(crate) fn strikes(&self, seed: u64, index: u64, nth: u64) -> bool {
        let drawn = mix(seed ^ mix(index.wrapping_add(1)) ^ mix(nth).rotate_left(17));
        (drawn >> 11) as f64 / (1_u64 << 53) as f64 <= self.odds && self.odds > 0.0
    }
}

fn parse_kind(text: &str) -> Result<FaultKind, ParseError> {
    let wanted = text.trim().to_ascii_lowercase();
    FaultKind::ALL
        .into_iter()
        .find(|kind| kind.name() == wanted)
        .ok_or_else(|| ParseError::Kind(text.to_owned()))
}

fn parse_odds(text: &str) -> Result<f64, ParseError> {
    let number = |part: &str| part.trim().parse::<f64>().ok();
    let odds = if let Some(percent) = text.trim().strip_suffix('%') {
        number(percent).map(|value| value / 100.0)
    } else if let Some((hits, of)) = text.split_once('/') {
        number(hits).zip(number(of)).map(|(hits, of)| hits / of)
    } else {
        number(text)
    };
    odds.filter(|odds| *odds > 0.0 && *odds <= 1.0)
        .ok_or_else(|| ParseError::Odds(text.to_owned()))
}

/// The finaliser of `SplitMix64`: every bit of the input moves every bit of the output.
fn mix(value: u64) -> u64 {
    let mut bits = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

impl FromStr for Fault {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.verb, self.kind.name(), self.odds)
    }
}

impl TryFrom<String> for Fault {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        Self::parse(&text)
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> Self {
        fault.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_read_with_any_spelling_of_its_odds() {
        for text in [
            "rcpt:tempfail:0.05",
            "RCPT:tempfail:5%",
            "Rcpt:Tempfail:1/20",
        ] {
            let fault = Fault::parse(text).unwrap();
            assert_eq!(
                (fault.verb.as_str(), fault.kind),
                ("RCPT", FaultKind::Tempfail)
            );
            assert!((fault.odds - 0.05).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn a_fault_without_odds_always_strikes() {
        let fault = Fault::parse("DATA:drop").unwrap();
        assert!((0..1000).all(|nth| fault.strikes(7, 0, nth)));
    }

    #[test]
    fn a_wrong_fault_says_what_is_wrong() {
        let said = |text: &str| Fault::parse(text).unwrap_err();
        assert!(matches!(said("RCPT"), ParseError::Shape(_)));
        assert!(matches!(said(":drop"), ParseError::Shape(_)));
        assert!(matches!(said("RCPT:explode"), ParseError::Kind(_)));
        for odds in ["0", "1.5", "101%", "1/0", "often", "NaN", "-1", ""] {
            assert!(
                matches!(said(&format!("RCPT:drop:{odds}")), ParseError::Odds(_)),
                "{odds}"
            );
        }
    }

    #[test]
    fn the_share_of_struck_commands_is_near_the_odds_and_the_same_in_every_run() {
        let fault = Fault::parse("GET:drop:10%").unwrap();
        let hits = |seed| {
            (0..100_000)
                .filter(|nth| fault.strikes(seed, 3, *nth))
                .count()
        };
        assert!((9_500..10_500).contains(&hits(1)), "{}", hits(1));
        assert_eq!(hits(1), hits(1));
        assert_ne!(hits(1), hits(2));
    }

    #[test]
    fn a_written_fault_is_read_back() {
        let fault = Fault::parse("*:slow:1/8").unwrap();
        assert_eq!(Fault::parse(&fault.to_string()).unwrap(), fault);
    }
}
