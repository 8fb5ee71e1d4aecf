//! The three shapes of text the kernel writes counters in, as pure functions over bytes.

/// Cells of one row; `None` where the kernel says nothing.
pub(crate) type Row = [Option<u64>];

/// A whole field as a number; `None` for anything but digits or beyond 64 bits.
pub(crate) fn number(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// Lines without their ends.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n')
}

/// Fields of a line, separated by any run of blanks.
pub(crate) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(u8::is_ascii_whitespace)
        .filter(|field| !field.is_empty())
}

/// `NAME VALUE` or `NAME: VALUE kB` lines: the value of `keys[i]` times `unit` goes to `row[i]`.
pub(crate) fn keyed(bytes: &[u8], keys: &[&str], unit: u64, row: &mut Row) {
    for line in lines(bytes) {
        let mut parts = fields(line);
        let Some(name) = parts.next() else { continue };
        let name = name.strip_suffix(b":").unwrap_or(name);
        if let Some(place) = keys.iter().position(|key| key.as_bytes() == name) {
            row[place] = parts.next().and_then(number).map(|value| value * unit);
        }
    }
}

/// Pairs of lines, names above values, both starting with `prefix` (`/proc/net/snmp`).
pub(crate) fn paired(bytes: &[u8], prefix: &str, keys: &[&str], row: &mut Row) {
    let mut pair = lines(bytes).filter(|line| line.starts_with(prefix.as_bytes()));
    let (Some(names), Some(values)) = (pair.next(), pair.next()) else {
        return;
    };
    for (name, value) in fields(names).zip(fields(values)) {
        if let Some(place) = keys.iter().position(|key| key.as_bytes() == name) {
            row[place] = number(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_only_and_fits_64_bits() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(number(b"-1"), None);
        assert_eq!(number(b"1.5"), None);
        assert_eq!(number(b""), None);
    }

    #[test]
    fn a_key_that_is_absent_stays_none() {
        let mut row = [None; 2];
        keyed(
            b"MemTotal:  10 kB\nMemFree: 3 kB\n",
            &["MemTotal", "MemAvailable"],
            1024,
            &mut row,
        );
        assert_eq!(row, [Some(10_240), None]);
    }

    #[test]
    fn paired_lines_are_matched_by_name_not_by_place() {
        let text = b"Ip: A B\nIp: 1 2\nTcp: InSegs RetransSegs\nTcp: 7 9\n";
        let mut row = [None; 1];
        paired(text, "Tcp:", &["RetransSegs"], &mut row);
        assert_eq!(row, [Some(9)]);
    }

    #[test]
    fn a_prefix_without_its_values_gives_nothing() {
        let mut row = [None; 1];
        paired(b"Tcp: InSegs\n", "Tcp:", &["InSegs"], &mut row);
        assert_eq!(row, [None]);
    }
}
