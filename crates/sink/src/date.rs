//! Dates as HTTP and mail write them, from Unix time.

use std::fmt::Write;

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Writes `Thu, 01 Jan 1970 00:00:00` over `into`; the zone is the caller's.
pub(crate) fn write_date(into: &mut String, unix_s: i64) {
    let days = unix_s.div_euclid(86_400);
    let second = unix_s.rem_euclid(86_400);
    let (year, month, day) = civil(days);
    into.clear();
    // Writing into a String cannot fail.
    let _ = write!(
        into,
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02}",
        DAYS[days.rem_euclid(7) as usize],
        MONTHS[month as usize],
        second / 3600,
        second / 60 % 60,
        second % 60,
    );
}

/// Year, month (0 to 11) and day of a day since 1970-01-01, in the proleptic Gregorian calendar.
///
/// Years are counted from March, so that the leap day is the last day of a year; an era is 400 of
/// them. Source: H. Hinnant, "chrono-compatible low-level date algorithms".
fn civil(days: i64) -> (i64, i64, i64) {
    let since_era_0 = days + 719_468;
    let era = since_era_0.div_euclid(146_097);
    let day_of_era = since_era_0.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_as_the_calendar_has_them() {
        for (unix_s, date) in [
            (0, "Thu, 01 Jan 1970 00:00:00"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00"),
        ] {
            let mut written = String::new();
            write_date(&mut written, unix_s);
            assert_eq!(written, date);
        }
    }
}
