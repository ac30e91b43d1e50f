//! Server-sent events, decoded from bytes as the network delivers them.
//!
//! Own code rather than a crate: the decoder must bound one event, join characters and lines that
//! reads cut anywhere, accept what providers really send (no space, CR alone, bytes that are not
//! UTF-8, a last event without its blank line) and lend the data instead of allocating it. It is
//! pure: bytes in, events out. It never looks into the data.

use std::borrow::Cow;

/// Most bytes of one event, its unfinished line included.
pub const MAX_EVENT_BYTES: usize = 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// One event that carries data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// The event's name; empty when the stream gave none.
    pub name: &'a str,
    /// The data lines, joined by line feeds; may be blank.
    pub data: Cow<'a, str>,
}

/// An event grew past [`MAX_EVENT_BYTES`]; the stream cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is longer than {MAX_EVENT_BYTES} bytes")]
pub struct EventTooLong;

/// Turns reads of any size into events; where the reads were cut makes no difference.
#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    name: String,
    after_carriage_return: bool,
    past_first_line: bool,
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and hands every event that they complete to `sink`.
    ///
    /// # Errors
    /// [`EventTooLong`] when an event passes the limit.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut sink: impl FnMut(Event<'_>),
    ) -> Result<(), EventTooLong> {
        let mut rest = bytes;
        while let Some((&first, after_first)) = rest.split_first() {
            if std::mem::take(&mut self.after_carriage_return) && first == b'\n' {
                rest = after_first;
                continue;
            }
            let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.keep(rest);
            };
            let (head, tail) = rest.split_at(at);
            if let Some((end, after)) = tail.split_first() {
                self.after_carriage_return = *end == b'\r';
                rest = after;
            }
            if self.line.is_empty() {
                self.take_line(head, &mut sink)?;
            } else {
                self.keep(head)?;
                let mut line = std::mem::take(&mut self.line);
                self.take_line(&line, &mut sink)?;
                line.clear();
                self.line = line;
            }
        }
        Ok(())
    }

    /// Ends the stream. An event whose blank line never came is handed out all the same: some
    /// providers close right after their last line.
    ///
    /// # Errors
    /// [`EventTooLong`] when the last line takes its event past the limit.
    pub fn finish(&mut self, mut sink: impl FnMut(Event<'_>)) -> Result<(), EventTooLong> {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.take_line(&line, &mut sink)?;
        }
        self.dispatch(&mut sink);
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), EventTooLong> {
        self.room_for(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn room_for(&self, more: usize) -> Result<(), EventTooLong> {
        let total = self
            .line
            .len()
            .saturating_add(self.data.len())
            .saturating_add(more);
        if total > MAX_EVENT_BYTES {
            Err(EventTooLong)
        } else {
            Ok(())
        }
    }

    fn take_line(
        &mut self,
        line: &[u8],
        sink: &mut impl FnMut(Event<'_>),
    ) -> Result<(), EventTooLong> {
        let line = if std::mem::replace(&mut self.past_first_line, true) {
            line
        } else {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        };
        if line.is_empty() {
            self.dispatch(sink);
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => {
                let (field, value) = line.split_at(at);
                let value = value.strip_prefix(b":").unwrap_or(value);
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                self.room_for(value.len().saturating_add(1))?;
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.room_for(value.len())?;
                self.name = decode(value).into_owned();
            }
            // A comment has an empty field name; `id` and `retry` serve reconnecting, which a
            // request with side effects never does.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        if std::mem::take(&mut self.has_data) {
            sink(Event {
                name: &self.name,
                data: decode(&self.data),
            });
        }
        self.data.clear();
        self.name.clear();
    }
}

/// Text of the bytes; a run of bytes that is not UTF-8 becomes one replacement character.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    let mut in_run = false;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            text.push_str(chunk.valid());
            in_run = false;
        }
        if !chunk.invalid().is_empty() && !std::mem::replace(&mut in_run, true) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests;
