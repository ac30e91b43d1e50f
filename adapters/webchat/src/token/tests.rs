use proptest::prelude::*;

use super::*;

#[test]
fn a_token_is_good_for_the_account_that_made_it_and_no_other() {
    let (one, two) = (Signer::new(&[1; 32]), Signer::new(&[2; 32]));
    let (token, visitor) = one.mint([7; 16]);
    assert_eq!(one.check(&token), Some(visitor.clone()));
    assert_eq!(two.check(&token), None);
    assert_eq!(visitor.id.len(), 32);
    assert_ne!(one.mint([8; 16]).1, visitor);
}

#[test]
fn the_visitors_id_holds_nothing_of_the_token() {
    let (token, visitor) = Signer::new(&[1; 32]).mint([0xab; 16]);
    assert!(!visitor.id.contains("abab"));
    assert!(!token.contains(&visitor.id));
}

proptest! {
    #[test]
    fn one_changed_bit_or_another_length_spoils_it(
        random: [u8; 16], at in 0..48_usize, bit in 0..8_u32, cut in 0..48_usize,
    ) {
        let signer = Signer::new(&[3; 32]);
        let (token, _) = signer.mint(random);
        let mut bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        prop_assert_eq!(bytes.len(), 48);
        prop_assert_eq!(signer.check(&URL_SAFE_NO_PAD.encode(&bytes[..cut])), None);
        bytes[at] ^= 1 << bit;
        prop_assert_eq!(signer.check(&URL_SAFE_NO_PAD.encode(&bytes)), None);
    }

    #[test]
    fn any_text_is_checked_without_harm(text: String) {
        prop_assert_eq!(Signer::new(&[3; 32]).check(&text), None);
    }
}
