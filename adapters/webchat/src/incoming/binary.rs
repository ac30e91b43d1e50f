//! Binary frames, taken apart.
//!
//! Owns their layout: four bytes, big-endian, with the length of the head; the head, a JSON object; the blobs behind
//! it, as long as `binary_sizes` of the head says. Lengths, sizes and the number of places must fit exactly, so that
//! no byte is ever taken for another. Pure.

use std::collections::VecDeque;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::MAX_FILES;
use crate::texts::Code;

/// What stands in the head where a blob belongs.
pub(super) const PLACE: &str = "__BINARY__";

/// The blobs of a frame that have no place yet, in order.
#[derive(Debug, Default)]
pub(super) struct Blobs(VecDeque<Bytes>);

impl Blobs {
    /// The blob of the next place.
    pub(super) fn take(&mut self) -> Result<Bytes, Code> {
        self.0.pop_front().ok_or(Code::BadCount)
    }

    /// Every blob must have had a place.
    pub(super) fn finish(self) -> Result<(), Code> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Code::BadCount)
        }
    }
}

/// The head and the blobs of a frame.
pub(super) fn split(frame: &Bytes) -> Result<(Map<String, Value>, Blobs), Code> {
    let (length, rest) = frame.split_first_chunk::<4>().ok_or(Code::BadLength)?;
    let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| Code::BadLength)?;
    let (head, data) = rest.split_at_checked(length).ok_or(Code::BadLength)?;
    let Ok(Value::Object(head)) = serde_json::from_slice(head) else {
        return Err(Code::BadFrame);
    };
    let sizes = sizes(head.get("binary_sizes"))?;
    let mut total: usize = 0;
    for size in &sizes {
        total = total.checked_add(*size).ok_or(Code::BadSize)?;
    }
    if total != data.len() {
        return Err(Code::BadSize);
    }
    let mut data = frame.slice_ref(data);
    let blobs = sizes.into_iter().map(|size| data.split_to(size)).collect();
    Ok((head, Blobs(blobs)))
}

/// `binary_sizes`: bytes of each blob, none of them empty.
fn sizes(sizes: Option<&Value>) -> Result<Vec<usize>, Code> {
    let sizes = match sizes {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(sizes)) => sizes,
        Some(_) => return Err(Code::BadSize),
    };
    if sizes.len() > MAX_FILES {
        return Err(Code::BadCount);
    }
    let size = |size: &Value| {
        let size = size.as_u64().filter(|size| *size > 0);
        usize::try_from(size.ok_or(Code::BadSize)?).map_err(|_| Code::BadSize)
    };
    sizes.iter().map(size).collect()
}

#[cfg(test)]
mod tests;
