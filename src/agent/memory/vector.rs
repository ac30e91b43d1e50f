//! What a text means, as a vector of small numbers.
//!
//! Owns how a vector is kept, a signed byte for each dimension in base64, and how alike two are. A byte is enough: what is
//! compared is the direction. Pure.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// A direction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vector(Vec<i8>);

impl Vector {
    /// The direction of a vector as a model gives it; nothing of one that has none.
    #[must_use]
    pub fn of(values: &[f32]) -> Self {
        let largest = values
            .iter()
            .fold(0.0_f32, |most, value| most.max(value.abs()));
        if !(largest.is_finite() && largest > 0.0) {
            return Self::default();
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is between -127 and 127"
        )]
        let small = |value: &f32| (value / largest * 127.0).round() as i8;
        Self(values.iter().map(small).collect())
    }

    /// As it is stored.
    #[must_use]
    pub fn encode(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().map(|value| value.cast_unsigned()).collect();
        STANDARD.encode(bytes)
    }

    /// What [`Vector::encode`] gave; nothing of anything else.
    #[must_use]
    pub fn decode(stored: &str) -> Self {
        let bytes = STANDARD.decode(stored).unwrap_or_default();
        Self(bytes.into_iter().map(u8::cast_signed).collect())
    }
}

/// How alike two directions are: 1 for the same, 0 for none, less for the opposite. Vectors of different sizes are not.
#[must_use]
pub fn likeness(one: &Vector, other: &Vector) -> f64 {
    if one.0.len() != other.0.len() {
        return 0.0;
    }
    let product = |one: &Vector, other: &Vector| -> i64 {
        let pairs = one.0.iter().zip(&other.0);
        pairs
            .map(|(one, other)| i64::from(*one) * i64::from(*other))
            .sum()
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "the sums of small numbers are small"
    )]
    let (product, lengths) = (
        product(one, other) as f64,
        (product(one, one) as f64 * product(other, other) as f64).sqrt(),
    );
    if lengths > 0.0 {
        product / lengths
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_compared_whatever_their_length() {
        let of = |values: &[f32]| Vector::of(values);
        let close = |one: f64, other: f64| (one - other).abs() < 0.01;
        assert!(close(likeness(&of(&[1.0, 2.0]), &of(&[10.0, 20.0])), 1.0));
        assert!(close(likeness(&of(&[1.0, 0.0]), &of(&[0.0, 3.0])), 0.0));
        assert!(close(likeness(&of(&[1.0, 0.0]), &of(&[-2.0, 0.0])), -1.0));
        assert!(close(
            likeness(&of(&[1.0, 0.0]), &of(&[1.0, 0.0, 0.0])),
            0.0
        ));
        assert_eq!(of(&[0.0, f32::NAN]), Vector::default());
        assert_eq!(of(&[f32::INFINITY]), Vector::default());
    }

    #[test]
    fn a_vector_comes_back_as_it_went() {
        let vector = Vector::of(&[-1.0, 0.5, 0.25]);
        assert_eq!(Vector::decode(&vector.encode()), vector);
        assert_eq!(Vector::decode("not base64!"), Vector::default());
    }
}
