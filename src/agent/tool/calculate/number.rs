//! Numbers of the calculator: fractions while they fit, else rounded ones.
//!
//! Owns their sums and how they are written. Fractions of 128-bit integers; what outgrows them is rounded and
//! marked, never wrong in silence.

use std::fmt;

/// What is wrong with an expression, for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Wrong {
    #[error("The expression is too long.")]
    TooLong,
    #[error("There are too many brackets in each other.")]
    TooDeep,
    #[error("The expression ends too early.")]
    Unfinished,
    #[error("There is a {0:?} where none can stand.")]
    Unexpected(char),
    #[error("There is no function or constant {0:?}.")]
    Unknown(String),
    #[error("{0:?} is no number.")]
    NoNumber(String),
    #[error("The function takes another number of values.")]
    Values,
    #[error("That is a division by zero.")]
    Zero,
    #[error("That is not defined for this number.")]
    Undefined,
}

/// Digits behind the point that are shown of a fraction without an end.
const DIGITS: usize = 15;
/// The largest exponent that is carried out step by step.
const MAX_EXPONENT: u32 = 4_096;

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// A fraction in lowest terms; the lower part is positive.
    Exact(i128, i128),
    /// Rounded.
    Near(f64),
}

use Number::{Exact, Near};

fn gcd(mut one: u128, mut other: u128) -> u128 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// A fraction in lowest terms; `None` if it does not fit.
fn reduced(upper: i128, lower: i128) -> Option<Number> {
    let divisor = i128::try_from(gcd(upper.unsigned_abs(), lower.unsigned_abs())).ok()?;
    let divisor = if lower < 0 {
        divisor.checked_neg()?
    } else {
        divisor
    };
    Some(Exact(
        upper.checked_div(divisor)?,
        lower.checked_div(divisor)?,
    ))
}

impl Number {
    /// Reads digits with a point and an exponent.
    pub(super) fn read(text: &str) -> Result<Self, Wrong> {
        let wrong = || Wrong::NoNumber(text.to_owned());
        let near: f64 = text.parse().map_err(|_| wrong())?;
        Ok(Self::read_exactly(text).unwrap_or(Near(near)))
    }

    fn read_exactly(text: &str) -> Option<Self> {
        let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let upper: i128 = format!("0{whole}{part}").parse().ok()?;
        let places = i32::try_from(part.len()).ok()?;
        let shift = exponent.parse::<i32>().ok()?.checked_sub(places)?;
        let power = 10_i128.checked_pow(shift.unsigned_abs())?;
        if shift < 0 {
            reduced(upper, power)
        } else {
            Some(Exact(upper.checked_mul(power)?, 1))
        }
    }

    pub(super) fn value(self) -> f64 {
        match self {
            // Rounding is what is wanted here.
            Exact(upper, lower) => upper as f64 / lower as f64,
            Near(value) => value,
        }
    }

    /// Both as fractions into `exact`, or both rounded into `near`.
    fn with(
        self,
        other: Self,
        exact: impl Fn((i128, i128), (i128, i128)) -> Option<Self>,
        near: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let exactly = match (self, other) {
            (Exact(a, b), Exact(c, d)) => exact((a, b), (c, d)),
            _ => None,
        };
        exactly.unwrap_or_else(|| Near(near(self.value(), other.value())))
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let exact = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            let upper = a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?;
            reduced(upper, b.checked_mul(d)?)
        };
        self.with(other, exact, |one, two| one + two)
    }

    pub(super) fn negated(self) -> Self {
        self.times(Exact(-1, 1))
    }

    pub(super) fn times(self, other: Self) -> Self {
        let exact = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            reduced(a.checked_mul(c)?, b.checked_mul(d)?)
        };
        self.with(other, exact, |one, two| one * two)
    }

    pub(super) fn over(self, other: Self) -> Result<Self, Wrong> {
        if other.value() == 0.0 {
            return Err(Wrong::Zero);
        }
        let exact = |(a, b): (i128, i128), (c, d): (i128, i128)| {
            reduced(a.checked_mul(d)?, b.checked_mul(c)?)
        };
        Ok(self.with(other, exact, |one, two| one / two))
    }

    /// What is left of a division that is rounded down; it has the sign of the divisor.
    pub(super) fn modulo(self, other: Self) -> Result<Self, Wrong> {
        let times = self.over(other)?.floor();
        Ok(self.plus(other.times(times).negated()))
    }

    fn floor(self) -> Self {
        match self {
            Exact(upper, lower) => Exact(upper.div_euclid(lower), 1),
            Near(value) => Near(value.floor()),
        }
    }

    pub(super) fn power(self, exponent: Self) -> Result<Self, Wrong> {
        if let (Exact(upper, lower), Exact(times, 1)) = (self, exponent)
            && times.unsigned_abs() <= u128::from(MAX_EXPONENT)
        {
            if upper == 0 && times < 0 {
                return Err(Wrong::Zero);
            }
            let times_up = u32::try_from(times.unsigned_abs()).unwrap_or(MAX_EXPONENT);
            let raised = |base: i128| base.checked_pow(times_up);
            let exact = raised(upper).zip(raised(lower)).and_then(|(upper, lower)| {
                if times < 0 {
                    reduced(lower, upper)
                } else {
                    Some(Exact(upper, lower))
                }
            });
            if let Some(exact) = exact {
                return Ok(exact);
            }
        }
        defined(self.value().powf(exponent.value()))
    }

    pub(super) fn factorial(self) -> Result<Self, Wrong> {
        let Exact(times @ 0..=170, 1) = self else {
            return Err(Wrong::Undefined);
        };
        Ok((2..=times).fold(Exact(1, 1), |all, next| all.times(Exact(next, 1))))
    }

    fn is_less(self, other: Self) -> bool {
        match (self, other) {
            (Exact(a, b), Exact(c, d)) => match (a.checked_mul(d), c.checked_mul(b)) {
                (Some(one), Some(two)) => one < two,
                _ => self.value() < other.value(),
            },
            _ => self.value() < other.value(),
        }
    }

    /// The square root of a fraction of squares.
    fn root(self) -> Option<Self> {
        let Exact(upper, lower) = self else {
            return None;
        };
        let root = |square: i128| square.checked_isqrt().filter(|root| root * root == square);
        Some(Exact(root(upper)?, root(lower)?))
    }
}

/// A rounded number, if it is one.
fn defined(value: f64) -> Result<Number, Wrong> {
    if value.is_nan() {
        Err(Wrong::Undefined)
    } else {
        Ok(Near(value))
    }
}

/// Applies a function.
pub(super) fn apply(name: &str, values: &[Number]) -> Result<Number, Wrong> {
    let whole = |number: &Number| match number {
        Exact(upper, 1) => Ok(upper.unsigned_abs()),
        _ => Err(Wrong::Undefined),
    };
    let exact =
        |value: u128| i128::try_from(value).map_or(Near(value as f64), |value| Exact(value, 1));
    let half = Exact(1, 2);
    match (name, values) {
        ("min", [first, rest @ ..]) => {
            Ok(rest.iter().fold(
                *first,
                |least, next| if next.is_less(least) { *next } else { least },
            ))
        }
        ("max", [first, rest @ ..]) => {
            Ok(rest.iter().fold(
                *first,
                |most, next| if most.is_less(*next) { *next } else { most },
            ))
        }
        ("gcd", [one, two]) => Ok(exact(gcd(whole(one)?, whole(two)?))),
        ("lcm", [one, two]) => {
            let (one, two) = (whole(one)?, whole(two)?);
            let divisor = gcd(one, two).max(1);
            Ok((one / divisor)
                .checked_mul(two)
                .map_or(Near(one as f64 / divisor as f64 * two as f64), exact))
        }
        ("abs", [value]) => Ok(if value.is_less(Exact(0, 1)) {
            value.negated()
        } else {
            *value
        }),
        ("floor", [value]) => Ok(value.floor()),
        ("ceil", [value]) => Ok(value.negated().floor().negated()),
        // Halves go away from zero.
        ("round", [value]) if value.is_less(Exact(0, 1)) => {
            Ok(value.negated().plus(half).floor().negated())
        }
        ("round", [value]) => Ok(value.plus(half).floor()),
        ("sqrt", [value]) => value
            .root()
            .map_or_else(|| defined(value.value().sqrt()), Ok),
        (_, [value]) => {
            let value = value.value();
            defined(match name {
                "cbrt" => value.cbrt(),
                "ln" => value.ln(),
                "log2" => value.log2(),
                "log10" | "log" => value.log10(),
                "exp" => value.exp(),
                "sin" => value.sin(),
                "cos" => value.cos(),
                "tan" => value.tan(),
                "asin" => value.asin(),
                "acos" => value.acos(),
                "atan" => value.atan(),
                _ => return Err(Wrong::Unknown(name.to_owned())),
            })
        }
        ("min" | "max" | "gcd" | "lcm", _) => Err(Wrong::Values),
        _ => Err(Wrong::Unknown(name.to_owned())),
    }
}

impl fmt::Display for Number {
    /// `42`, `0.125`, `1/3 ≈ 0.333333333333333`, or `≈ 1.4142135623730951`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (upper, lower) = match *self {
            Exact(upper, lower) => (upper, lower),
            Near(value) if value.is_infinite() => {
                return f.write_str("too large for this calculator");
            }
            Near(value) if value != 0.0 && !(1e-9..1e21).contains(&value.abs()) => {
                return write!(f, "≈ {value:e}");
            }
            Near(value) => return write!(f, "≈ {value}"),
        };
        if lower == 1 {
            return write!(f, "{upper}");
        }
        let (digits, ended) = decimals(
            upper.unsigned_abs() % lower.unsigned_abs(),
            lower.unsigned_abs(),
        );
        let sign = if upper < 0 { "-" } else { "" };
        let whole = upper.unsigned_abs() / lower.unsigned_abs();
        if ended {
            write!(f, "{sign}{whole}.{digits}")
        } else {
            write!(f, "{upper}/{lower} ≈ {sign}{whole}.{digits}")
        }
    }
}

/// The digits behind the point, and whether there are no more.
fn decimals(mut rest: u128, lower: u128) -> (String, bool) {
    let mut digits = String::new();
    while rest != 0 && digits.len() < 2 * DIGITS {
        let Some(next) = rest.checked_mul(10) else {
            return (digits, false);
        };
        let digit = u32::try_from(next / lower).unwrap_or_default();
        digits.extend(char::from_digit(digit, 10));
        rest = next % lower;
    }
    if rest != 0 {
        digits.truncate(DIGITS);
    }
    (digits, rest == 0)
}
