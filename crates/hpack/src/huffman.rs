//! The Huffman code of HPACK (RFC 7541, Appendix B).
//!
//! The code is canonical: of two symbols the one with the shorter code, or with the same length
//! the smaller one, has the smaller code. So the lengths say everything, and the codes are counted.

use crate::Malformed;

/// Bits of each symbol's code.
#[rustfmt::skip]
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];
const LONGEST: usize = 30;

/// Symbols in the order of their codes, and for each length the first place and the first code.
struct Code {
    symbols: [u8; 256],
    first_place: [u32; LONGEST + 1],
    first_bits: [u32; LONGEST + 1],
    /// One above the last code of this length and the shorter ones, moved to 32 bits.
    limit: [u32; LONGEST + 1],
    /// Symbol and length of the code that 8 bits start with; length 0 for a longer code.
    short: [(u8, u8); 256],
}

static CODE: Code = Code::count();

impl Code {
    const fn count() -> Self {
        let mut code = Self {
            symbols: [0; 256],
            first_place: [0; LONGEST + 1],
            first_bits: [0; LONGEST + 1],
            limit: [0; LONGEST + 1],
            short: [(0, 0); 256],
        };
        let mut place = 0;
        let mut next = 0_u32;
        let mut length = 1;
        while length <= LONGEST {
            next <<= 1;
            code.first_place[length] = place;
            code.first_bits[length] = next;
            let mut symbol = 0;
            while symbol < 256 {
                if LENGTHS[symbol] as usize == length {
                    code.symbols[place as usize] = symbol as u8;
                    if length <= 8 {
                        code.fill_short(symbol as u8, next, length);
                    }
                    place += 1;
                    next += 1;
                }
                symbol += 1;
            }
            code.limit[length] = next << (32 - length);
            length += 1;
        }
        code
    }

    const fn fill_short(&mut self, symbol: u8, code: u32, length: usize) {
        let spread = 1 << (8 - length);
        let mut at = 0;
        while at < spread {
            self.short[((code as usize) << (8 - length)) + at] = (symbol, length as u8);
            at += 1;
        }
    }

    /// The symbol that 32 bits start with and its length; `None` for the end-of-string symbol.
    fn symbol(&self, window: u32) -> Option<(u8, u32)> {
        let (symbol, length) = self.short[(window >> 24) as usize];
        if length > 0 {
            return Some((symbol, u32::from(length)));
        }
        let length = (9..=LONGEST).find(|length| window < self.limit[*length])?;
        let nth = (window >> (32 - length)) - self.first_bits[length];
        let place = self.first_place[length] + nth;
        Some((self.symbols[place as usize], length as u32))
    }
}

/// Adds the decoded text to `out`. Padding is up to seven ones and nothing else.
pub fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
    let mut bytes = text.iter();
    // The next bit is the highest; behind the `count` known ones stand zeros.
    let mut bits = 0_u64;
    let mut count = 0_u32;
    loop {
        while count <= 48 {
            let Some(byte) = bytes.next() else { break };
            bits |= u64::from(*byte) << (56 - count);
            count += 8;
        }
        let padded = bits | u64::MAX >> count;
        match CODE.symbol((padded >> 32) as u32) {
            Some((symbol, length)) if length <= count => {
                out.push(symbol);
                bits <<= length;
                count -= length;
            }
            _ if count < 8 && padded == u64::MAX => return Ok(()),
            _ => return Err(Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(text: &[u8]) -> Vec<u8> {
        let mut bits = Vec::new();
        for byte in text {
            let length = LENGTHS[usize::from(*byte)] as usize;
            let place = CODE.symbols.iter().position(|symbol| symbol == byte);
            let nth = place.unwrap() as u32 - CODE.first_place[length];
            let code = CODE.first_bits[length] + nth;
            bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
        }
        bits.resize(bits.len().next_multiple_of(8), true);
        bits.chunks(8)
            .map(|byte| {
                byte.iter()
                    .fold(0, |value, bit| value << 1 | u8::from(*bit))
            })
            .collect()
    }

    #[test]
    fn every_byte_comes_back_at_every_place() {
        let all: Vec<u8> = (0..=255).collect();
        for start in 0..=255 {
            let mut out = Vec::new();
            decode(&encode(&all[start..]), &mut out).unwrap();
            assert_eq!(out, all[start..]);
        }
    }

    #[test]
    fn the_published_texts_are_decoded() {
        let www = [
            0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff,
        ];
        let date = [
            0xd0, 0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04, 0x0b,
            0x81, 0x66, 0xe0, 0x82, 0xa6, 0x2d, 0x1b, 0xff,
        ];
        for (coded, text) in [
            (&www[..], "www.example.com"),
            (&date, "Mon, 21 Oct 2013 20:13:21 GMT"),
            (&[0x64, 0x02], "302"),
            (&[0x64, 0x0e, 0xff], "307"),
            (&[], ""),
        ] {
            let mut out = Vec::new();
            decode(coded, &mut out).unwrap();
            assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn the_code_is_complete_but_for_the_end_of_string() {
        // Kraft's sum, with the one code of 30 bits that stands for the end of a string.
        let sum: u64 = LENGTHS
            .iter()
            .map(|bits| 1_u64 << (LONGEST - usize::from(*bits)))
            .sum();
        assert_eq!(sum + 1, 1 << LONGEST);
    }

    #[test]
    fn wrong_padding_and_the_end_of_string_are_refused() {
        for bad in [
            &[0xFF][..],
            &[0x1F, 0xFF],
            &[0x00],
            &[0xFF, 0xFF, 0xFF, 0xFF],
            &[0xFF, 0xFF, 0xFF, 0xFC, 0x00],
            &[0x64, 0x1E],
        ] {
            assert_eq!(decode(bad, &mut Vec::new()), Err(Malformed), "{bad:x?}");
        }
        assert_eq!(
            decode(&[0x1F], &mut Vec::new()),
            Ok(()),
            "an a and three ones"
        );
    }
}
