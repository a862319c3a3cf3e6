//! Output files that are either complete or not there.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::{Builder, NamedTempFile};

use crate::Error;

/// Writes what `fill` writes to `path`; `-` is standard output, and a name that ends in `.gz` is compressed.
///
/// The bytes go to a temporary file beside `path`, which takes its name only when all of them are on disk, so
/// a failure leaves what was there before. Pipes and devices cannot be replaced and are written to directly.
pub fn save(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let written = if path.as_os_str() == "-" {
        write_through(io::stdout().lock(), path, fill).map(drop)
    } else {
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                return Err(Error::IsDirectory { file: path.display().to_string() });
            }
            // What stands behind /dev/stdout may be somebody's log, and is not ours to replace.
            Ok(there) if !there.is_file() || is_system_path(path) => OpenOptions::new()
                .append(true)
                .open(path)
                .and_then(|device| write_through(device, path, fill).map(drop)),
            _ => replace(path, fill),
        }
    };
    written.map_err(|reason| Error::Write { file: path.display().to_string(), reason: unwrapped(reason) })
}

fn is_system_path(path: &Path) -> bool {
    ["/dev", "/proc", "/sys"].iter().any(|root| path.starts_with(root))
}

/// The error of the system, without the wrapping of the library that writes records.
fn unwrapped(error: io::Error) -> io::Error {
    match error.downcast::<csv::Error>().map(csv::Error::into_kind) {
        Ok(csv::ErrorKind::Io(inner)) => inner,
        Ok(other) => io::Error::other(format!("{other:?}")),
        Err(error) => error,
    }
}

fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A link stays a link: it is what it points to that is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let complete = write_through(temporary_beside(&target)?, path, fill)?;
    complete.as_file().sync_all()?;
    complete.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".dunlin-");
    // Temporary files are private by default; this one is to become an ordinary file, or keep the rights of
    // the one it replaces.
    if let Ok(there) = fs::metadata(target) {
        builder.permissions(there.permissions());
    } else {
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    builder.tempfile_in(directory)
}

/// Fills `out`, compressed if the name asks for it, and hands it back flushed.
fn write_through<W: Write>(
    out: W,
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<W> {
    let mut out = BufWriter::new(out);
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut encoder = GzEncoder::new(&mut out, Compression::default());
        fill(&mut encoder)?;
        encoder.finish()?;
    } else {
        fill(&mut out)?;
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)
}
