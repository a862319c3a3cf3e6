//! From a path to plain bytes: standard input, gzip, and what is not a file at all.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::Error;

/// Opens `path` for reading; `-` is standard input.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, Error> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = path.display().to_string();
    match File::open(path).and_then(|input| Ok((input.metadata()?.is_dir(), input))) {
        Ok((true, _)) => Err(Error::IsDirectory { file }),
        Ok((false, input)) => Ok(Box::new(input)),
        Err(reason) if matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(Error::NoSuchFile { file })
        }
        Err(reason) => Err(Error::Read { file, reason }),
    }
}

/// The input with the bytes put back that were needed to recognise it.
type Rewound<R> = Chain<Cursor<Vec<u8>>, R>;

/// Plain bytes, whether or not they came compressed.
pub(super) enum Decoded<R: Read> {
    Plain(Rewound<R>),
    Gzip(Box<MultiGzDecoder<BufReader<Rewound<R>>>>),
}

impl<R: Read> Decoded<R> {
    /// Recognises gzip by its first two bytes, never by the file's name.
    pub(super) fn new(mut input: R) -> io::Result<Self> {
        let mut magic = Vec::with_capacity(2);
        input.by_ref().take(2).read_to_end(&mut magic)?;
        let gzip = magic == [0x1f, 0x8b];
        let rewound = Cursor::new(magic).chain(input);
        Ok(if gzip {
            Self::Gzip(Box::new(MultiGzDecoder::new(BufReader::new(rewound))))
        } else {
            Self::Plain(rewound)
        })
    }

    /// Whether the bytes come out of a decoder, whose complaints are about the input.
    pub(super) const fn is_gzip(&self) -> bool {
        matches!(self, Self::Gzip(_))
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(input) => input.read(buf),
            Self::Gzip(input) => input.read(buf),
        }
    }
}
