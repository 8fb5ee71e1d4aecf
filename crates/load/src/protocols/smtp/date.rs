//! The `Date` field.

/// RFC 5322 date of a Unix time, in UTC; days to date after Howard Hinnant's `civil_from_days`.
pub fn date(unix_s: u64) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let days = unix_s / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months counted from March.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era + u64::from(month >= 10);
    let name = MONTHS[(month as usize + 2) % 12];
    let (hour, minute, second) = (unix_s / 3_600 % 24, unix_s / 60 % 60, unix_s % 60);
    format!("{day} {name} {year} {hour:02}:{minute:02}:{second:02} +0000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days_and_new_year() {
        for (unix_s, text) in [
            (0, "1 Jan 1970 00:00:00 +0000"),
            (951_782_399, "28 Feb 2000 23:59:59 +0000"),
            (951_782_400, "29 Feb 2000 00:00:00 +0000"),
            (1_709_251_199, "29 Feb 2024 23:59:59 +0000"),
            (1_798_761_599, "31 Dec 2026 23:59:59 +0000"),
        ] {
            assert_eq!(date(unix_s), text);
        }
    }
}
