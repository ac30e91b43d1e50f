//! Signed identities: what makes a visitor the same person on every device.
//!
//! The site's own server signs who its customer is, as a JSON Web Token with HS256 under a secret that it shares with
//! the gateway. Owns what such a token must be; it takes no other algorithm, whatever the token says of itself. Pure:
//! the time is an argument.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::token::{Visitor, id};

/// Longest token in bytes, and longest subject in characters.
const MAX_TOKEN: usize = 4_096;
const MAX_SUBJECT: usize = 256;
/// How far the clocks of two servers may be apart, in seconds.
const LEEWAY: i64 = 60;

/// Why a signed identity is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is no token of this site, or says nothing that can be used.
    NotOurs,
    /// It is no longer good, or not yet.
    Time,
}

/// The visitor of a token of `site` that is good `now`, in seconds since 1970.
pub(crate) fn verify(token: &str, secret: &str, site: &str, now: i64) -> Result<Visitor, Wrong> {
    if token.len() > MAX_TOKEN {
        return Err(Wrong::NotOurs);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(Wrong::NotOurs)?;
    let signature = URL_SAFE_NO_PAD
        .decode(signature)
        .map_err(|_| Wrong::NotOurs)?;
    let good: bool = sign(secret, signed).as_slice().ct_eq(&signature).into();
    let (header, claims) = signed.split_once('.').ok_or(Wrong::NotOurs)?;
    if !good || part(header)?["alg"] != "HS256" || !part(header)?["crit"].is_null() {
        return Err(Wrong::NotOurs);
    }
    let claims = part(claims)?;
    let subject = claims["sub"].as_str().ok_or(Wrong::NotOurs)?;
    if subject.is_empty() || subject.chars().count() > MAX_SUBJECT || !is_for(&claims["aud"], site)
    {
        return Err(Wrong::NotOurs);
    }
    // One that never ends would be as good as a password that nobody can change.
    let ends = seconds(&claims["exp"]).ok_or(Wrong::NotOurs)?;
    let begins = seconds(&claims["nbf"]).unwrap_or(i64::MIN);
    if now >= ends.saturating_add(LEEWAY) || now < begins.saturating_sub(LEEWAY) {
        return Err(Wrong::Time);
    }
    let mut hash = Sha256::new();
    hash.update(b"webchat signed visitor id 1\n");
    hash.update(subject.as_bytes());
    Ok(Visitor { id: id(hash) })
}

/// Who a token is for, if it says so: one that was made for another site is not taken.
fn is_for(audience: &Value, site: &str) -> bool {
    match audience {
        Value::Null => true,
        Value::Array(all) => all.iter().any(|it| it == site),
        one => one == site,
    }
}

/// A time of a token, which may have a fraction.
fn seconds(value: &Value) -> Option<i64> {
    let whole = value.as_i64();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float is cut to the range of whole numbers, which is what is meant"
    )]
    whole.or_else(|| value.as_f64().map(|seconds| seconds as i64))
}

fn part(text: &str) -> Result<Value, Wrong> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Wrong::NotOurs)?;
    serde_json::from_slice(&bytes).map_err(|_| Wrong::NotOurs)
}

/// HMAC-SHA256 of a text, for a key of any length.
fn sign(secret: &str, text: &str) -> [u8; 32] {
    let mut block = [0_u8; 64];
    let hashed;
    // By the definition of HMAC a key that is longer than a block is hashed first, and a shorter one filled up.
    let key: &[u8] = if secret.len() > block.len() {
        hashed = Sha256::digest(secret.as_bytes());
        &hashed
    } else {
        secret.as_bytes()
    };
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests;
