//! Visitor tokens: what makes somebody who comes again the same visitor.
//!
//! A token is 128 random bits and their signature under the account's key, so that nobody can make one
//! and nothing has to be stored. The visitor's id is a hash of the random part: ids may be logged and
//! stored, and no id leads back to a token. Pure: randomness is an argument.

use std::fmt::Write;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The bytes of a token that are random.
const RANDOM: usize = 16;

/// Signs and checks the tokens of one account.
#[derive(Clone)]
pub(crate) struct Signer {
    mac: Hmac<Sha256>,
}

/// A visitor who showed a good token, or was given one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visitor {
    /// 32 hexadecimal digits.
    pub(crate) id: String,
}

impl Signer {
    /// A signer under the account's own key.
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        // A key that is shorter than a block is filled up with zeros, by the definition of HMAC.
        let mut block = [0_u8; 64];
        for (to, from) in block.iter_mut().zip(secret) {
            *to = *from;
        }
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(b"webchat visitor token 1\n");
        Self { mac }
    }

    /// The token of these random bytes and the visitor it stands for.
    pub(crate) fn mint(&self, random: [u8; RANDOM]) -> (String, Visitor) {
        let mut bytes = random.to_vec();
        bytes.extend_from_slice(&self.signature(&random));
        (URL_SAFE_NO_PAD.encode(bytes), visitor(&random))
    }

    /// The visitor of a token; `None` if this account never made it.
    pub(crate) fn check(&self, token: &str) -> Option<Visitor> {
        if token.len() > 128 {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (random, signature) = bytes.split_first_chunk::<RANDOM>()?;
        let good: bool = self.signature(random).as_slice().ct_eq(signature).into();
        good.then(|| visitor(random))
    }

    fn signature(&self, random: &[u8]) -> [u8; 32] {
        let mut mac = self.mac.clone();
        mac.update(random);
        mac.finalize().into_bytes().into()
    }
}

fn visitor(random: &[u8; RANDOM]) -> Visitor {
    let mut hash = Sha256::new();
    hash.update(b"webchat visitor id 1\n");
    hash.update(random);
    Visitor { id: id(hash) }
}

/// A visitor's id of what he is known by: 32 hexadecimal digits.
pub(crate) fn id(hash: Sha256) -> String {
    let mut id = String::with_capacity(2 * RANDOM);
    for byte in hash.finalize().iter().take(RANDOM) {
        // Writing into a string cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    id
}

#[cfg(test)]
mod tests;
