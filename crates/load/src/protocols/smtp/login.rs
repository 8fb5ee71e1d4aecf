//! Credentials on the wire (RFC 4954).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steelyard_wire::job::{Login, Mechanism};

use super::offers::Offers;

/// Whether the server takes the mechanism of `login`.
pub fn is_offered(login: &Login, offers: Offers) -> bool {
    match login.mechanism {
        Mechanism::Plain => offers.auth_plain,
        Mechanism::Login => offers.auth_login,
    }
}

/// The line that begins the login of user `number`.
pub fn first_line(login: &Login, number: u32) -> String {
    match login.mechanism {
        Mechanism::Login => "AUTH LOGIN\r\n".to_owned(),
        Mechanism::Plain => {
            let (user, password) = credentials(login, number);
            let all = STANDARD.encode(format!("\0{user}\0{password}"));
            format!("AUTH PLAIN {all}\r\n")
        }
    }
}

/// The line with the name.
pub fn name_line(login: &Login, number: u32) -> String {
    STANDARD.encode(credentials(login, number).0) + "\r\n"
}

/// The line with the password.
pub fn password_line(login: &Login, number: u32) -> String {
    STANDARD.encode(credentials(login, number).1) + "\r\n"
}

fn credentials(login: &Login, number: u32) -> (String, String) {
    let number = number.to_string();
    let filled = |text: &str| text.replace("{n}", &number);
    (filled(&login.user), filled(&login.password))
}
