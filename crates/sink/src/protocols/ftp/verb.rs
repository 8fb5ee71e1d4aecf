//! The commands of FTP.

/// Verbs that delays and faults can name. `DATA` is no command but the data connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Connect,
    User,
    Pass,
    Auth,
    Pbsz,
    Prot,
    Syst,
    Feat,
    Opts,
    Type,
    Pwd,
    Cwd,
    Cdup,
    Epsv,
    Pasv,
    Size,
    Mdtm,
    List,
    Nlst,
    Mlsd,
    Retr,
    Stor,
    Dele,
    Mkd,
    Rmd,
    Rest,
    Abor,
    Noop,
    Quit,
    Other,
    Data,
}

impl Verb {
    /// In the order of the variants.
    pub const NAMES: &'static [&'static str] = &[
        "CONNECT", "USER", "PASS", "AUTH", "PBSZ", "PROT", "SYST", "FEAT", "OPTS", "TYPE", "PWD",
        "CWD", "CDUP", "EPSV", "PASV", "SIZE", "MDTM", "LIST", "NLST", "MLSD", "RETR", "STOR",
        "DELE", "MKD", "RMD", "REST", "ABOR", "NOOP", "QUIT", "OTHER", "DATA",
    ];
    const COMMANDS: [Self; 28] = [
        Self::User,
        Self::Pass,
        Self::Auth,
        Self::Pbsz,
        Self::Prot,
        Self::Syst,
        Self::Feat,
        Self::Opts,
        Self::Type,
        Self::Pwd,
        Self::Cwd,
        Self::Cdup,
        Self::Epsv,
        Self::Pasv,
        Self::Size,
        Self::Mdtm,
        Self::List,
        Self::Nlst,
        Self::Mlsd,
        Self::Retr,
        Self::Stor,
        Self::Dele,
        Self::Mkd,
        Self::Rmd,
        Self::Rest,
        Self::Abor,
        Self::Noop,
        Self::Quit,
    ];

    pub fn read(word: &str) -> Self {
        Self::COMMANDS
            .into_iter()
            .find(|verb| Self::NAMES[*verb as usize].eq_ignore_ascii_case(word))
            .unwrap_or(Self::Other)
    }

    /// Whether it moves a file or a list: these are the operations.
    pub fn transfers(self) -> bool {
        matches!(
            self,
            Self::List | Self::Nlst | Self::Mlsd | Self::Retr | Self::Stor
        )
    }

    /// Whether it may come before a login.
    pub fn is_open(self) -> bool {
        matches!(
            self,
            Self::User
                | Self::Pass
                | Self::Auth
                | Self::Pbsz
                | Self::Prot
                | Self::Syst
                | Self::Feat
                | Self::Opts
                | Self::Noop
                | Self::Quit
                | Self::Other
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_read_in_any_case() {
        for verb in Verb::COMMANDS {
            let name = Verb::NAMES[verb as usize];
            assert_eq!(Verb::read(name), verb);
            assert_eq!(Verb::read(&name.to_ascii_lowercase()), verb);
        }
        assert_eq!(Verb::read("CONNECT"), Verb::Other);
        assert_eq!(Verb::NAMES[Verb::Data as usize], "DATA");
    }
}
