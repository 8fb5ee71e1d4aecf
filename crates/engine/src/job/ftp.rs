//! From the options of `ftp://` to an operation.

use std::collections::BTreeMap;

use steelyard_wire::agent::Failure;
use steelyard_wire::job::{FtpAction, FtpOperation, Passive};

use crate::failure::bad_request;
use crate::load_args::{LoadArgs, PassiveArg};

/// What one transfer is.
pub(super) fn operation(args: &LoadArgs) -> Result<FtpOperation, Failure> {
    let usual = FtpOperation::default();
    let ftp = &args.ftp;
    let named = ftp.actions.as_deref().map(actions).transpose()?;
    Ok(FtpOperation {
        login: args.login.login().unwrap_or(usual.login),
        actions: named.unwrap_or(usual.actions),
        download: ftp.file.clone(),
        folder: ftp.folder.clone().unwrap_or_default(),
        upload_bytes: ftp.upload_size.unwrap_or(usual.upload_bytes),
        delete_uploads: ftp.delete_uploads,
        starttls: args.login.starttls(),
        passive: match ftp.passive {
            None | Some(PassiveArg::Auto) => Passive::EpsvThenPasv,
            Some(PassiveArg::Epsv) => Passive::Epsv,
            Some(PassiveArg::Pasv) => Passive::Pasv,
        },
        trust_pasv_address: ftp.trust_pasv_address,
        transfers_per_connection: ftp.transfers_per_connection.unwrap_or(0),
        user_bytes_per_s: ftp.user_rate.unwrap_or(0),
        least_share: ftp.least_share.unwrap_or(usual.least_share),
        verify: args.payload.verify,
    })
}

fn actions(text: &str) -> Result<BTreeMap<FtpAction, f64>, Failure> {
    text.split(',').map(action).collect()
}

fn action(word: &str) -> Result<(FtpAction, f64), Failure> {
    let (name, weight) = word.split_once('=').unwrap_or((word, "1"));
    let action = match name {
        "login" => Some(FtpAction::Login),
        "download" => Some(FtpAction::Download),
        "upload" => Some(FtpAction::Upload),
        "list" => Some(FtpAction::List),
        _ => None,
    };
    action.zip(weight.parse().ok()).ok_or_else(|| {
        bad_request(
            format!("{word:?} is no action of FTP"),
            "login, download, upload or list, and =WEIGHT if they are several",
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn actions_have_the_weight_one_unless_another_is_given() {
        let all = actions("download=8,list,upload=0.5").unwrap();
        let expected = [
            (FtpAction::Download, 8.0),
            (FtpAction::Upload, 0.5),
            (FtpAction::List, 1.0),
        ];
        assert_eq!(all, BTreeMap::from(expected));
    }

    #[test]
    fn what_is_no_action_is_refused_by_name() {
        for text in ["", "fetch", "list=", "list=x", "list,,upload"] {
            let refused = actions(text).unwrap_err();
            assert!(refused.message.contains("no action"), "{text}");
        }
    }
}
