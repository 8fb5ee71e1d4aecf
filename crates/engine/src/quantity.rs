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

/// Sizes with their weights, as `1k:30,10k:50,100k:20`; a size alone weighs 1.
pub(crate) fn sizes(text: &str) -> Result<Vec<(u64, f64)>, String> {
    text.split(',')
        .map(|part| {
            let (size, weight) = part.split_once(':').unwrap_or((part, "1"));
            let weight = weight.trim().parse::<f64>().ok();
            let weight = weight.filter(|weight| weight.is_finite() && *weight >= 0.0);
            let weight = weight
                .ok_or_else(|| format!("{part:?} has no weight; write SIZE:WEIGHT, as 10k:50"))?;
            Ok((size_bytes(size)?, weight))
        })
        .collect()
}

/// Operations a second from `50`, `50/s`, `120/min`, `3600/h`.
pub(crate) fn rate_per_s(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 5] = [
        ("s", 1.0),
        ("m", 60.0),
        ("min", 60.0),
        ("minute", 60.0),
        ("h", 3600.0),
    ];
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let length_s = UNITS.iter().find(|(name, _)| *name == unit.trim());
    let number = number.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    number
        .zip(length_s)
        .map(|(number, (_, length_s))| number / length_s)
        .ok_or_else(|| {
            format!("{text:?} is no rate; write operations a second, or as 120/min or 5/h")
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
    fn rates_may_be_given_in_other_units_than_seconds() {
        assert_eq!(rate_per_s("0.5"), Ok(0.5));
        assert_eq!(rate_per_s("50/s"), Ok(50.0));
        assert_eq!(rate_per_s("120/min"), Ok(2.0));
        assert_eq!(rate_per_s("1800/h"), Ok(0.5));
        for text in ["", "fast", "5/", "5/week", "inf"] {
            assert!(rate_per_s(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn sizes_have_weights() {
        assert_eq!(
            sizes("1k:30,10k:50, 100k:20"),
            Ok(vec![(1_024, 30.0), (10_240, 50.0), (102_400, 20.0)])
        );
        assert_eq!(sizes("5"), Ok(vec![(5, 1.0)]));
        for text in ["", "1k:", "1k:-1", "x:1", "1k:nan"] {
            assert!(sizes(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "soon", "-5s", "5 parsecs", "inf", "1e9s", "s"] {
            assert!(duration_ns(text).is_err(), "{text:?}");
        }
        assert!(size_bytes("-1").is_err());
    }
}
