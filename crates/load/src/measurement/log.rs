//! Every operation of a run in a file, for those who want to compute by themselves.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::fault::ErrorKind;
use crate::measurement::operation::{Operation, Part};

/// One operation that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logged {
    /// When it was due, sent, and over.
    pub operation: Operation,
    /// See above.
    pub done_ns: u64,
    /// Index of its kind.
    pub kind: u32,
    /// Why it failed.
    pub error: Option<ErrorKind>,
}

/// First line of the file.
const HEAD: &str = "part,kind,intended_ns,sent_ns,done_ns,outcome";

/// Writes `rows` in the order in which they were due; times count from `start_ns`, the window's
/// start, and are negative before it.
pub fn write(
    path: &Path,
    rows: &mut [Logged],
    kinds: &[String],
    start_ns: u64,
) -> std::io::Result<()> {
    rows.sort_by_key(|row| (row.operation.intended_ns, row.done_ns));
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "{HEAD}")?;
    for row in rows {
        let since = |at_ns: u64| at_ns.wrapping_sub(start_ns).cast_signed();
        let part = match row.operation.part {
            Part::Before => "warmup",
            Part::Window => "window",
            Part::After => "after",
        };
        writeln!(
            file,
            "{part},{},{},{},{},{}",
            kinds.get(row.kind as usize).map_or("", String::as_str),
            since(row.operation.intended_ns),
            since(row.operation.sent_ns),
            since(row.done_ns),
            row.error.map_or("ok", ErrorKind::word),
        )?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_written_in_the_order_in_which_they_were_due() {
        let row = |intended_ns: u64, part, error| Logged {
            operation: Operation {
                intended_ns,
                sent_ns: intended_ns + 1,
                phase_start_ns: 0,
                part,
            },
            done_ns: intended_ns + 5,
            kind: 0,
            error,
        };
        let mut rows = [
            row(130, Part::Window, Some(ErrorKind::ConnReset)),
            row(90, Part::Before, None),
        ];
        let path = std::env::temp_dir().join(format!("steelyard-log-{}", std::process::id()));
        write(&path, &mut rows, &["/a".to_owned()], 100).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            text,
            format!("{HEAD}\nwarmup,/a,-10,-9,-5,ok\nwindow,/a,30,31,35,conn_reset\n")
        );
    }
}
