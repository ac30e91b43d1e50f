//! Signatures of what the platform posts, and of what it asks to be signed.
//!
//! Owns the key, which is made of the bot's secret (bot-docs, Webhook: the secret, repeated to 32 bytes, is the
//! seed of an Ed25519 key). What is signed here can never be taken for an event: only a short word of letters
//! and digits is.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

/// Bytes of a seed.
const SEED: usize = 32;
/// The longest word that is signed, in bytes.
const MAX_WORD: usize = 128;

/// The key of one bot.
pub struct Key(Ed25519KeyPair);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl Key {
    /// The key that a secret makes; `None` if it is empty.
    #[must_use]
    pub fn new(secret: &str) -> Option<Self> {
        let seed: Vec<u8> = secret.bytes().cycle().take(SEED).collect();
        Ed25519KeyPair::from_seed_unchecked(&seed).ok().map(Self)
    }

    /// Whether the platform signed this body at this time. Both as they came.
    #[must_use]
    pub fn verifies(&self, time: &str, body: &[u8], signature: &str) -> bool {
        let Some(signature) = from_hex(signature) else {
            return false;
        };
        let signed = [time.as_bytes(), body].concat();
        let public = UnparsedPublicKey::new(&ED25519, self.0.public_key().as_ref());
        public.verify(&signed, &signature).is_ok()
    }

    /// The answer to the platform's question whether the address is the bot's; `None` if the question is not
    /// of its form.
    #[must_use]
    pub fn answer(&self, time: &str, word: &str) -> Option<String> {
        let is_time =
            !time.is_empty() && time.len() <= 20 && time.bytes().all(|byte| byte.is_ascii_digit());
        let is_word =
            word.len() <= MAX_WORD && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let signed = [time, word].concat();
        (is_time && is_word).then(|| to_hex(self.0.sign(signed.as_bytes()).as_ref()))
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    // An Ed25519 signature has 64 bytes.
    if text.len() != 128 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let bytes = text.as_bytes().chunks_exact(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_answer_is_made() {
        let key = Key::new("DG5g3B4j9X2KOErG").expect("a key");
        let answer = key.answer("1725442341", "Arq0D5A61EgUu4OxUvOp");
        assert_eq!(
            answer.as_deref(),
            Some(
                "87befc99c42c651b3aac0278e71ada338433ae26fcb24307bdc5ad38c1adc2d01bcfcadc0842edac85e85205028a1132afe09280305f13aa6909ffc2d652c706"
            )
        );
    }

    #[test]
    fn what_was_signed_verifies_and_nothing_else() {
        let key = Key::new("123456abcdef").expect("a key");
        let body = br#"{"op":0,"t":"C2C_MESSAGE_CREATE"}"#;
        let signed = [b"1728981195".as_slice(), body].concat();
        let signature = to_hex(key.0.sign(&signed).as_ref());
        assert!(key.verifies("1728981195", body, &signature));
        assert!(key.verifies("1728981195", body, &signature.to_uppercase()));
        assert!(!key.verifies("1728981196", body, &signature));
        assert!(!key.verifies("1728981195", b"{}", &signature));
        for odd in ["", "00", "zz", &"0".repeat(128), &"ü".repeat(64)] {
            assert!(!key.verifies("1728981195", body, odd), "{odd}");
        }
        let other = Key::new("abcdef123456").expect("a key");
        assert!(!other.verifies("1728981195", body, &signature));
        assert!(Key::new("").is_none());
    }

    #[test]
    fn nothing_that_could_be_an_event_is_signed() {
        let key = Key::new("secret").expect("a key");
        for word in [r#"{"op":0}"#, "a b", "{}", "ü", &"a".repeat(129)] {
            assert_eq!(key.answer("1725442341", word), None, "{word}");
        }
        for time in ["", "1{", "-1", "172544234117254423411"] {
            assert_eq!(key.answer(time, "word"), None, "{time}");
        }
    }
}
