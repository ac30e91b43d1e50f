//! The package that an office document is: a zip file of named parts.
//!
//! Owns the limits against packages that are small outside and huge inside, and the form in which one is written. It knows
//! only what office documents use: parts that are stored or deflated, without a password. A name of a part is never taken
//! for a path. Pure.

use std::{
    collections::HashMap,
    io::{Read as _, Write as _},
};

use flate2::{Compression, Crc, read::DeflateDecoder, write::DeflateEncoder};

/// Most bytes of a document.
pub(super) const MAX_BYTES: usize = 32 << 20;
/// Most parts.
const MAX_PARTS: usize = 4_000;
/// Most bytes of a part that is read, and of all of them.
const MAX_PART: usize = 48 << 20;
const MAX_READ: usize = 96 << 20;

/// How a part is packed.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// What the records of a package begin with.
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Their lengths without what varies.
const LOCAL_SIZE: usize = 30;
const CENTRAL_SIZE: usize = 46;
const END_SIZE: usize = 22;
/// Longest comment behind the end.
const MAX_COMMENT: usize = 65_535;
/// The first day that a package can name; of the same words the same bytes are made.
const DAY: u16 = 0x0021;

/// Why a document is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Error {
    /// It is no package, or a part of it is damaged.
    Damaged,
    /// It has a password.
    Locked,
    /// It unfolds into more than is read.
    TooLarge,
    /// It is none of the kinds that are known.
    Unknown,
}

impl Error {
    /// What the model is told.
    pub(super) fn told(&self) -> &'static str {
        match self {
            Self::Damaged => "The document is damaged, or is none.",
            Self::Locked => "The document is protected by a password, or is of an old kind.",
            Self::TooLarge => "The document unfolds into more than is read of one.",
            Self::Unknown => "This is no document of the kinds docx, xlsx and pptx.",
        }
    }
}

/// Where a part is.
struct Entry {
    method: u16,
    locked: bool,
    crc: u32,
    /// Its length as it is packed.
    packed: usize,
    /// Where its record begins.
    at: usize,
}

/// A package that is read.
pub(super) struct Package<'a> {
    bytes: &'a [u8],
    /// By their names in lower case, as packages compare them.
    entries: HashMap<String, Entry>,
    read: usize,
}

impl<'a> Package<'a> {
    /// Opens a package.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        // The old form, in which documents with a password are wrapped.
        if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
            return Err(Error::Locked);
        }
        let end = end_of(bytes).ok_or(Error::Damaged)?;
        let (count, mut at) = (half(bytes, end + 10)?, word(bytes, end + 16)?);
        if count > MAX_PARTS {
            return Err(Error::TooLarge);
        }
        let mut entries = HashMap::with_capacity(count);
        for _ in 0..count {
            if word(bytes, at)? != size(CENTRAL) {
                return Err(Error::Damaged);
            }
            let (name, extra, comment) = (
                half(bytes, at + 28)?,
                half(bytes, at + 30)?,
                half(bytes, at + 32)?,
            );
            let start = at + CENTRAL_SIZE;
            let text = bytes.get(start..start + name).ok_or(Error::Damaged)?;
            let text = String::from_utf8_lossy(text)
                .replace('\\', "/")
                .to_lowercase();
            let entry = Entry {
                method: short(half(bytes, at + 10)?),
                locked: half(bytes, at + 8)? & 1 == 1,
                crc: u32::try_from(word(bytes, at + 16)?).unwrap_or(0),
                packed: word(bytes, at + 20)?,
                at: word(bytes, at + 42)?,
            };
            // Of two of one name the first counts.
            entries.entry(text).or_insert(entry);
            at = start + name + extra + comment;
        }
        Ok(Self {
            bytes,
            entries,
            read: 0,
        })
    }

    /// Whether there is a part of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(&name.to_lowercase())
    }

    /// The text of a part; `None` if there is none. What a part says of its own size is not believed.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, Error> {
        let Some(entry) = self.entries.get(&name.to_lowercase()) else {
            return Ok(None);
        };
        if entry.locked {
            return Err(Error::Locked);
        }
        let bytes = self.bytes;
        if word(bytes, entry.at)? != size(LOCAL) {
            return Err(Error::Damaged);
        }
        let (name, extra) = (half(bytes, entry.at + 26)?, half(bytes, entry.at + 28)?);
        let start = entry.at + LOCAL_SIZE + name + extra;
        let packed = bytes
            .get(start..start.saturating_add(entry.packed))
            .ok_or(Error::Damaged)?;
        let most = MAX_PART.min(MAX_READ.saturating_sub(self.read));
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        let mut text = Vec::new();
        match entry.method {
            STORED => text.extend_from_slice(packed.get(..=most).unwrap_or(packed)),
            DEFLATED => {
                let read = DeflateDecoder::new(packed)
                    .take(limit)
                    .read_to_end(&mut text);
                read.map_err(|_| Error::Damaged)?;
            }
            _ => return Err(Error::Damaged),
        }
        self.read = self.read.saturating_add(text.len());
        if text.len() > most {
            return Err(Error::TooLarge);
        }
        let mut crc = Crc::new();
        crc.update(&text);
        if crc.sum() != entry.crc {
            return Err(Error::Damaged);
        }
        let text = String::from_utf8(text).map_err(|_| Error::Damaged)?;
        Ok(Some(text.trim_start_matches('\u{feff}').to_owned()))
    }
}

/// Where the record begins that stands at the end of a package.
fn end_of(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_SIZE)?;
    let first = last.saturating_sub(MAX_COMMENT);
    (first..=last)
        .rev()
        .find(|at| word(bytes, *at) == Ok(size(END)))
}

/// Two bytes as a number.
fn half(bytes: &[u8], at: usize) -> Result<usize, Error> {
    let two = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
    two.map(|two| usize::from(u16::from_le_bytes(*two)))
        .ok_or(Error::Damaged)
}

/// Four bytes as a number.
fn word(bytes: &[u8], at: usize) -> Result<usize, Error> {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    four.map(|four| size(u32::from_le_bytes(*four)))
        .ok_or(Error::Damaged)
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// A package of parts, in their order.
pub(super) fn packed(parts: &[(String, String)]) -> Result<Vec<u8>, Error> {
    let (mut out, mut central) = (Vec::new(), Vec::new());
    for (name, text) in parts {
        let mut crc = Crc::new();
        crc.update(text.as_bytes());
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let written = encoder.write_all(text.as_bytes());
        let packed = written.and_then(|()| encoder.finish());
        let packed = packed.map_err(|_| Error::TooLarge)?;
        // What both records of a part say: version, flags (UTF-8), method, time, day, sum and sizes.
        let mut common = Vec::new();
        for number in [20, 0x0800, DEFLATED, 0, DAY] {
            common.extend_from_slice(&number.to_le_bytes());
        }
        for number in [crc.sum(), long(packed.len())?, long(text.len())?] {
            common.extend_from_slice(&number.to_le_bytes());
        }
        common.extend_from_slice(&short(name.len()).to_le_bytes());
        common.extend_from_slice(&[0; 2]);
        let at = long(out.len())?;
        out.extend_from_slice(&LOCAL.to_le_bytes());
        out.extend_from_slice(&common);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&packed);
        central.extend_from_slice(&CENTRAL.to_le_bytes());
        central.extend_from_slice(&20_u16.to_le_bytes());
        central.extend_from_slice(&common);
        // No comment, one disk, no attributes.
        central.extend_from_slice(&[0; 10]);
        central.extend_from_slice(&at.to_le_bytes());
        central.extend_from_slice(name.as_bytes());
    }
    let (count, at, length) = (short(parts.len()), long(out.len())?, long(central.len())?);
    out.extend_from_slice(&central);
    out.extend_from_slice(&END.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&at.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    Ok(out)
}

fn long(number: usize) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| Error::TooLarge)
}
