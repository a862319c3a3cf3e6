//! Issuers to trust besides those that browsers trust, from PEM files. Reads the files; judges no certificate.

use std::path::PathBuf;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// Files, and the certificates that were in them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Roots {
    files: Vec<PathBuf>,
    pub(super) certificates: Vec<CertificateDer<'static>>,
}

/// From names of files, separated by commas.
pub(super) fn read(text: &str) -> Result<Roots, String> {
    let mut roots = Roots::default();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let text = std::fs::read(name).map_err(|error| format!("{name}: cannot be read: {error}"))?;
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        let found = found.map_err(|error| format!("{name}: not PEM: {error}"))?;
        if found.is_empty() {
            return Err(format!("{name}: no certificate in it (expected a PEM file)"));
        }
        roots.files.push(name.into());
        roots.certificates.extend(found);
    }
    Ok(roots)
}

pub(super) fn show(roots: &Roots) -> String {
    roots.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(",")
}
