//! Options of logins, of STARTTLS and of checked payloads: what several protocols share.

use clap::{Args, ValueEnum};
use steelyard_wire::job::{Login, Mechanism, StartTls};

/// How credentials are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthArg {
    /// AUTH PLAIN.
    Plain,
    /// AUTH LOGIN; LOGIN; USER and PASS.
    Login,
}

/// Wherever users log in.
#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// Name to log in with; an n in braces becomes the number of the user.
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Password; an n in braces becomes the number of the user.
    #[arg(long, value_name = "TEXT", requires = "user")]
    pub(crate) password: Option<String>,
    /// Users to log in as, 1 .. N [default: 1].
    #[arg(long, value_name = "N", requires = "user")]
    pub(crate) users: Option<u32>,
    /// How credentials are sent: AUTH PLAIN, or LOGIN (USER and PASS) [default: plain].
    #[arg(
        long,
        value_enum,
        value_name = "plain|login",
        hide_possible_values = true,
        requires = "user"
    )]
    pub(crate) auth: Option<AuthArg>,
    /// Upgrade clear-text connections to TLS, and fail those that cannot be.
    #[arg(long)]
    pub(crate) starttls: bool,
}

/// Wherever messages or files of this engine can be read back.
#[derive(Debug, Args)]
pub(crate) struct PayloadArgs {
    /// Check sequence and checksum of what comes back (HTTP: send a checked payload with it).
    #[arg(long)]
    pub(crate) verify: bool,
}

impl LoginArgs {
    /// The credentials, if any are given.
    pub(crate) fn login(&self) -> Option<Login> {
        let user = self.user.clone()?;
        Some(Login {
            user,
            password: self.password.clone().unwrap_or_default(),
            users: self.users.unwrap_or(1),
            mechanism: match self.auth {
                None | Some(AuthArg::Plain) => Mechanism::Plain,
                Some(AuthArg::Login) => Mechanism::Login,
            },
        })
    }

    /// Whether clear-text connections are upgraded.
    pub(crate) fn starttls(&self) -> StartTls {
        if self.starttls {
            StartTls::Require
        } else {
            StartTls::Never
        }
    }
}
