//! Options of `ftp://` and `ftps://`.

use clap::{Args, ValueEnum};

use crate::quantity::size_bytes;

/// How the data connection is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PassiveArg {
    /// EPSV, and PASV where it is refused.
    Auto,
    /// EPSV only.
    Epsv,
    /// PASV only.
    Pasv,
}

/// Only for `ftp://` and `ftps://`.
#[derive(Debug, Args)]
pub(crate) struct FtpArgs {
    /// What operations are, with a weight each: login, download, upload, list; for example
    /// download=8,upload=1,list=1 [default: download].
    #[arg(long, value_name = "NAME[=WEIGHT],...")]
    pub(crate) actions: Option<String>,
    /// A file to download, instead of the URL's; may be given several times, they take turns.
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,
    /// Folder to upload to and to list.
    #[arg(long, value_name = "PATH")]
    pub(crate) folder: Option<String>,
    /// Size of an uploaded file [default: 4KiB].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) upload_size: Option<u64>,
    /// Delete each uploaded file after its upload.
    #[arg(long)]
    pub(crate) delete_uploads: bool,
    /// How the data connection is asked for: EPSV and PASV where that is refused, or one of them
    /// [default: auto].
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "auto|epsv|pasv"
    )]
    pub(crate) passive: Option<PassiveArg>,
    /// Connect to the address that the reply to PASV names, even if it is not the server's.
    #[arg(long)]
    pub(crate) trust_pasv_address: bool,
    /// Transfers on one connection before QUIT; 0 for no limit [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) transfers_per_connection: Option<u32>,
    /// Each user takes and gives at most this many bytes a second.
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) user_rate: Option<u64>,
    /// A transfer slower than this share of --user-rate has failed [default: 0.75].
    #[arg(long, value_name = "SHARE", requires = "user_rate")]
    pub(crate) least_share: Option<f64>,
}
