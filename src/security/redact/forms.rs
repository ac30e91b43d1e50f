//! The spellings in which a secret turns up: as it is, percent-encoded, escaped, in base64.
//! Exact and few: each costs memory and could, if short, hit ordinary text.

use super::MIN_SECRET_CHARS;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use std::fmt::Write;

/// What the common encoders leave as it is, besides letters and digits: the RFC 3986 unreserved set,
/// forms (`application/x-www-form-urlencoded`), URI components in scripts, and path segments, query
/// and user part as URL libraries write them.
const KEPT: [&str; 7] = [
    "-._~",
    "*-._",
    "-._~!'()*",
    "-._~!$&'()*+,;=:@|[]^\\/",
    "-._~!$&'()*+,;=:@|[]^\\/%",
    "-._~!$&'()*+,;=:@|[]^\\/%?`{}",
    "-._~!$&'()*+,%",
];

/// All spellings of a secret, the value itself included; may hold doubles.
pub(super) fn of(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), xml(secret)];
    for kept in KEPT {
        forms.push(percent(secret, kept, true, "%20"));
        forms.push(percent(secret, kept, false, "%20"));
        forms.push(percent(secret, kept, true, "+"));
    }
    let debug = debug(secret);
    let once = json(secret);
    // JSON in JSON: the arguments of a tool call, or a debug line of a body.
    forms.extend([json(&once), json(&debug), debug]);
    // Some encoders write ASCII only, some escape slashes, some both.
    for form in [ascii(&once), once] {
        forms.extend([form.replace('/', "\\/"), form]);
    }
    forms.extend(base64(secret.as_bytes()));
    forms.retain(|form| form.chars().count() >= MIN_SECRET_CHARS);
    forms
}

/// The part of a header's value behind its scheme, which others repeat without it.
pub(super) fn behind_scheme(secret: &str) -> Option<&str> {
    let (scheme, rest) = secret.split_once(' ')?;
    let known = ["bearer", "basic", "token"];
    known
        .iter()
        .any(|word| scheme.eq_ignore_ascii_case(word))
        .then(|| rest.trim_start())
}

/// Percent-encodes all bytes but ASCII letters, digits and `kept`.
fn percent(text: &str, kept: &str, upper: bool, space: &str) -> String {
    let mut out = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        let letter = char::from(byte);
        if letter.is_ascii_alphanumeric() || kept.contains(letter) {
            out.push(letter);
        } else if byte == b' ' {
            out.push_str(space);
        } else if upper {
            let _ = write!(out, "%{byte:02X}");
        } else {
            let _ = write!(out, "%{byte:02x}");
        }
    }
    out
}

/// As inside a JSON string, without its quotes.
fn json(text: &str) -> String {
    unquoted(&serde_json::Value::from(text).to_string())
}

/// JSON text with everything beyond ASCII escaped.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter.is_ascii() {
            out.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// As `{:?}` writes it, without its quotes.
fn debug(text: &str) -> String {
    unquoted(&format!("{text:?}"))
}

/// As in HTML and XML text or attributes.
fn xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Without the quotation marks at both ends.
fn unquoted(text: &str) -> String {
    text.strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(text)
        .to_owned()
}

/// Base64 in both alphabets: the value alone, with and without padding, and the characters that do
/// not depend on what stands around it when it is part of a longer encoded text (`user:secret`).
fn base64(secret: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for engine in [&STANDARD, &URL_SAFE] {
        let whole = engine.encode(secret);
        forms.push(whole.trim_end_matches('=').to_owned());
        forms.push(whole);
        for before in 0..3_usize {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(secret);
            let first = (before * 8).div_ceil(6);
            let end = bytes.len() * 8 / 6;
            forms.push(
                engine
                    .encode(&bytes)
                    .get(first..end)
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
    }
    forms
}
