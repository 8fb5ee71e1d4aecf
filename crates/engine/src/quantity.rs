//! Durations and sizes as people write them on a command line.

/// Nanoseconds from `500us`, `20ms`, `5s`, `2m`, `1h`; a bare number means seconds.
pub(crate) fn duration_ns(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 60e9),
        ("h", 3600e9),
        ("", 1e9),
    ];
    scaled(text, &UNITS).ok_or_else(|| {
        format!("{text:?} is no duration; write a number and a unit, as 500us, 20ms, 5s or 2m")
    })
}

/// Bytes from `10200`, `10200B`, `4KiB`, `4k`, `10MB`, `1GiB`.
pub(crate) fn size_bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 11] = [
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("k", 1024.0),
        ("M", 1_048_576.0),
        ("G", 1_073_741_824.0),
        ("B", 1.0),
        ("", 1.0),
    ];
    scaled(text, &UNITS).ok_or_else(|| {
        format!("{text:?} is no size; write a number of bytes, as 10200, 4KiB or 1MB")
    })
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let text = text.trim();
    let (number, scale) = units
        .iter()
        .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))?;
    let number = number.trim();
    let digits = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = number.parse::<f64>().ok().filter(|_| digits)? * scale;
    (value < 1e18).then_some(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_and_without_unit() {
        assert_eq!(duration_ns("5s"), Ok(5_000_000_000));
        assert_eq!(duration_ns("1.5 ms"), Ok(1_500_000));
        assert_eq!(duration_ns("2m"), Ok(120_000_000_000));
        assert_eq!(duration_ns("7"), Ok(7_000_000_000));
    }

    #[test]
    fn sizes_are_read_with_and_without_unit() {
        assert_eq!(size_bytes("10200 B"), Ok(10_200));
        assert_eq!(size_bytes("4KiB"), Ok(4096));
        assert_eq!(size_bytes("4k"), Ok(4096));
        assert_eq!(size_bytes("1MB"), Ok(1_000_000));
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "soon", "-5s", "5 parsecs", "inf", "1e9s", "s"] {
            assert!(duration_ns(text).is_err(), "{text:?}");
        }
        assert!(size_bytes("-1").is_err());
    }
}
