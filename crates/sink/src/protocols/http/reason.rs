//! What stands behind a status.

/// Reasons of statuses people ask for (RFC 9110, 15).
const REASONS: [(u16, &str); 21] = [
    (100, "Continue"),
    (103, "Early Hints"),
    (200, "OK"),
    (201, "Created"),
    (202, "Accepted"),
    (204, "No Content"),
    (301, "Moved Permanently"),
    (302, "Found"),
    (304, "Not Modified"),
    (400, "Bad Request"),
    (401, "Unauthorized"),
    (403, "Forbidden"),
    (404, "Not Found"),
    (408, "Request Timeout"),
    (429, "Too Many Requests"),
    (431, "Request Header Fields Too Large"),
    (500, "Internal Server Error"),
    (501, "Not Implemented"),
    (502, "Bad Gateway"),
    (503, "Service Unavailable"),
    (504, "Gateway Timeout"),
];

/// The reason of a status; of one that is not listed, its class's.
pub(crate) fn reason(status: u16) -> &'static str {
    match REASONS.iter().find(|(known, _)| *known == status) {
        Some((_, reason)) => reason,
        None => match status / 100 {
            1 => "Interim",
            2 => "Successful",
            3 => "Redirection",
            4 => "Client Error",
            _ => "Server Error",
        },
    }
}
