//! The Huffman code of HPACK (RFC 7541, appendix B): decoding only.
//!
//! The code is canonical: codes of one length follow each other in the order of their bytes, so
//! that the lengths say it all.

use std::sync::LazyLock;

/// Bits of the code of each byte.
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5,
    5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6,
    6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22,
    23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
    21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20,
    22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22,
    22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];

const SHORTEST: usize = 5;
const LONGEST: usize = 30;

/// For each length: the first code, the number of codes, and where their bytes begin in `bytes`.
struct Code {
    first: [u32; LONGEST + 1],
    count: [u32; LONGEST + 1],
    offset: [usize; LONGEST + 1],
    bytes: Vec<u8>,
}

static CODE: LazyLock<Code> = LazyLock::new(|| {
    let mut code = Code {
        first: [0; LONGEST + 1],
        count: [0; LONGEST + 1],
        offset: [0; LONGEST + 1],
        bytes: Vec::with_capacity(256),
    };
    let mut next = 0;
    for length in SHORTEST..=LONGEST {
        next <<= 1;
        code.first[length] = next;
        code.offset[length] = code.bytes.len();
        for (byte, bits) in (0..=255).zip(LENGTHS) {
            if usize::from(bits) == length {
                code.bytes.push(byte);
                next += 1;
            }
        }
        code.count[length] = next - code.first[length];
    }
    code
});

/// Appends what `coded` stands for; `false` if it is no code, or ends with more than padding.
pub fn decode(coded: &[u8], out: &mut Vec<u8>) -> bool {
    let code = &*CODE;
    let (mut value, mut length) = (0_u32, 0);
    for byte in coded {
        for place in (0..8).rev() {
            value = value << 1 | u32::from(byte >> place & 1);
            length += 1;
            if length > LONGEST {
                return false;
            }
            let index = value.wrapping_sub(code.first[length]);
            if index < code.count[length] {
                out.push(code.bytes[code.offset[length] + index as usize]);
                (value, length) = (0, 0);
            }
        }
    }
    // Padding: less than a byte of ones.
    length < 8 && value == (1 << length) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(coded: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(coded, &mut out).then_some(out)
    }

    #[test]
    fn the_examples_of_the_standard_are_understood() {
        let www = [
            0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff,
        ];
        assert_eq!(decoded(&www).unwrap(), b"www.example.com");
        assert_eq!(decoded(&[0x64, 0x02]).unwrap(), b"302");
        assert_eq!(decoded(&[0x64, 0x0e, 0xff]).unwrap(), b"307");
        let date = [
            0xd0, 0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04, 0x0b,
            0x81, 0x66, 0xe0, 0x82, 0xa6, 0x2d, 0x1b, 0xff,
        ];
        assert_eq!(decoded(&date).unwrap(), b"Mon, 21 Oct 2013 20:13:21 GMT");
    }

    #[test]
    fn the_code_is_complete_but_for_the_end() {
        assert_eq!(CODE.bytes.len(), 256);
        // Kraft's sum with the one code of 30 bits that stands for the end of a string.
        let sum: u64 = LENGTHS
            .iter()
            .map(|bits| 1_u64 << (LONGEST - usize::from(*bits)))
            .sum();
        assert_eq!(sum + 1, 1 << LONGEST);
    }

    #[test]
    fn padding_that_is_none_is_refused() {
        assert_eq!(decoded(&[0x64, 0x1f]).unwrap(), b"30");
        assert_eq!(decoded(&[0x64, 0x1e]), None);
        assert_eq!(decoded(&[0xff]), None);
        assert_eq!(decoded(&[0xff; 4]), None);
        assert_eq!(decoded(&[]), Some(Vec::new()));
    }
}
