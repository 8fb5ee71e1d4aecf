//! FTP and FTPS transfers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tls::{Login, Mechanism, StartTls};

/// One transfer (or login), drawn by weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FtpOperation {
    /// Who logs in.
    #[serde(default = "anonymous")]
    pub login: Login,
    /// Weight of each action.
    #[serde(default = "usual_actions")]
    pub actions: BTreeMap<FtpAction, f64>,
    /// Files to download, in turn; the target's path without any.
    #[serde(default)]
    pub download: Vec<String>,
    /// Folder to upload to and to list.
    #[serde(default)]
    pub folder: String,
    /// Size of an uploaded file.
    #[serde(default = "usual_size")]
    pub upload_bytes: u64,
    /// Delete each uploaded file after its upload.
    #[serde(default)]
    pub delete_uploads: bool,
    /// AUTH TLS on the control connection (explicit FTPS), with PROT P.
    #[serde(default)]
    pub starttls: StartTls,
    /// How the data connection is asked for.
    #[serde(default)]
    pub passive: Passive,
    /// Connect to the address that a 227 reply names, even if it is not the control connection's.
    #[serde(default)]
    pub trust_pasv_address: bool,
    /// Transfers on one control connection before QUIT; 0 for no limit.
    #[serde(default)]
    pub transfers_per_connection: u32,
    /// Each user takes and gives at most this; 0 for no limit.
    #[serde(default)]
    pub user_bytes_per_s: u64,
    /// A transfer slower than this share of `user_bytes_per_s` has failed (`too_slow`).
    #[serde(default = "three_quarters")]
    pub least_share: f64,
    /// Uploads begin with a line that holds a checksum of the `upload_bytes` behind it; downloads of
    /// such files are checked.
    #[serde(default)]
    pub verify: bool,
}

impl Default for FtpOperation {
    fn default() -> Self {
        Self {
            login: anonymous(),
            actions: usual_actions(),
            download: Vec::new(),
            folder: String::new(),
            upload_bytes: usual_size(),
            delete_uploads: false,
            starttls: StartTls::Never,
            passive: Passive::EpsvThenPasv,
            trust_pasv_address: false,
            transfers_per_connection: 0,
            user_bytes_per_s: 0,
            least_share: three_quarters(),
            verify: false,
        }
    }
}

/// What one operation does.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FtpAction {
    /// Connect, USER, PASS, QUIT.
    Login,
    /// RETR.
    Download,
    /// STOR.
    Upload,
    /// LIST.
    List,
}

/// How the data connection is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Passive {
    /// EPSV, and PASV where it is refused.
    #[default]
    EpsvThenPasv,
    /// EPSV only.
    Epsv,
    /// PASV only.
    Pasv,
}

fn anonymous() -> Login {
    Login {
        user: "anonymous".to_owned(),
        password: "load@steelyard.test".to_owned(),
        users: 1,
        mechanism: Mechanism::Login,
    }
}

fn usual_actions() -> BTreeMap<FtpAction, f64> {
    BTreeMap::from([(FtpAction::Download, 1.0)])
}

fn usual_size() -> u64 {
    4096
}

fn three_quarters() -> f64 {
    0.75
}
