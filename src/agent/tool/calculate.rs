//! The tool `calculate`: sums, exactly where that is possible.
//!
//! Owns the grammar of expressions and its bounds. A result that is rounded is marked so. Pure.

mod number;

use async_trait::async_trait;
use serde_json::json;

use self::number::{Number, Wrong};
use super::{Call, Fault, Given, Spec, Tool};

/// The name.
pub const NAME: &str = "calculate";
/// Longest expression, in characters.
const MAX_LENGTH: usize = 2_000;
/// How deep brackets may stand in each other.
const MAX_DEPTH: usize = 100;

/// The tool.
#[derive(Debug)]
pub struct Calculate(Spec);

impl Default for Calculate {
    fn default() -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {"expression": {
                "type": "string",
                "maxLength": MAX_LENGTH,
                "description": "such as (3.5 + 2)^3 / 7; operators + - * / % ^ ! and brackets; constants pi, e; \
                    functions sqrt cbrt abs floor ceil round min max gcd lcm ln log2 log10 exp sin cos tan asin \
                    acos atan (radians)"
            }},
            "required": ["expression"],
            "additionalProperties": false
        });
        let about = "Evaluates an arithmetic expression. Use it for every sum that matters: fractions and \
                     decimals are exact.";
        Self(Spec::reading(NAME, about, parameters))
    }
}

#[async_trait]
impl Tool for Calculate {
    fn spec(&self) -> &Spec {
        &self.0
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let value = evaluate(call.text("expression"));
        let value = value.map_err(|wrong| Fault::lasting(wrong.to_string()))?;
        Ok(Given::own(value.to_string()))
    }
}

fn evaluate(text: &str) -> Result<Number, Wrong> {
    if text.chars().count() > MAX_LENGTH {
        return Err(Wrong::TooLong);
    }
    // `2 3` is no number: it may be a sign that was lost.
    let mut words = text.split_whitespace();
    let mut before = words.next();
    for word in words {
        let ends = before.and_then(|before| before.chars().next_back());
        let (Some(end), Some(begin)) = (ends, word.chars().next()) else {
            continue;
        };
        if is_of_number(end) && is_of_number(begin) {
            return Err(Wrong::Unexpected(begin));
        }
        before = Some(word);
    }
    let signs = text.chars().filter(|sign| !sign.is_whitespace());
    let mut reader = Reader {
        signs: signs.map(plain).collect(),
        at: 0,
        depth: 0,
    };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(sign) => Err(Wrong::Unexpected(sign)),
    }
}

fn is_of_number(sign: char) -> bool {
    sign.is_ascii_digit() || sign == '.'
}

/// The sign that is meant by a typographic one.
fn plain(sign: char) -> char {
    match sign {
        '×' | '·' | '∗' => '*',
        '÷' | '∕' => '/',
        '−' | '–' => '-',
        '（' => '(',
        '）' => ')',
        '，' => ',',
        other => other,
    }
}

struct Reader {
    signs: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.signs.get(self.at).copied()
    }

    fn take(&mut self, sign: char) -> bool {
        let there = self.peek() == Some(sign);
        self.at += usize::from(there);
        there
    }

    fn taken_while(&mut self, is: impl Fn(char) -> bool) -> String {
        let rest = self.signs.iter().skip(self.at);
        let word: String = rest.copied().take_while(|sign| is(*sign)).collect();
        self.at += word.chars().count();
        word
    }

    fn sum(&mut self) -> Result<Number, Wrong> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Wrong::TooDeep);
        }
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value = value.plus(self.product()?);
            } else if self.take('-') {
                value = value.plus(self.product()?.negated());
            } else {
                self.depth -= 1;
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<Number, Wrong> {
        let mut value = self.signed()?;
        loop {
            if self.take('*') {
                if self.take('*') {
                    value = value.power(self.signed()?)?;
                } else {
                    value = value.times(self.signed()?);
                }
            } else if self.take('/') {
                value = value.over(self.signed()?)?;
            } else if self.take('%') {
                value = value.modulo(self.signed()?)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn signed(&mut self) -> Result<Number, Wrong> {
        let mut negative = false;
        loop {
            if self.take('-') {
                negative = !negative;
            } else if !self.take('+') {
                break;
            }
        }
        let value = self.power()?;
        Ok(if negative { value.negated() } else { value })
    }

    /// A power binds more than a sign before it and is read from the right.
    fn power(&mut self) -> Result<Number, Wrong> {
        let mut base = self.atom()?;
        while self.take('!') {
            base = base.factorial()?;
        }
        if !self.take('^') {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Wrong::TooDeep);
        }
        let exponent = self.signed()?;
        self.depth -= 1;
        base.power(exponent)
    }

    fn atom(&mut self) -> Result<Number, Wrong> {
        if self.take('(') {
            let value = self.sum()?;
            return if self.take(')') {
                Ok(value)
            } else {
                Err(self.unexpected())
            };
        }
        match self.peek() {
            Some(sign) if sign.is_ascii_digit() || sign == '.' => self.number(),
            Some(sign) if sign.is_ascii_alphabetic() || sign == 'π' => self.word(),
            _ => Err(self.unexpected()),
        }
    }

    fn number(&mut self) -> Result<Number, Wrong> {
        let mut text = self.taken_while(|sign| sign.is_ascii_digit() || matches!(sign, '.' | '_'));
        let exponent = matches!(self.peek(), Some('e' | 'E'))
            && self
                .signs
                .get(self.at + 1)
                .is_some_and(|next| next.is_ascii_digit() || matches!(next, '+' | '-'));
        if exponent {
            self.at += 1;
            text.push('e');
            text.extend(self.peek().filter(|sign| matches!(sign, '+' | '-')));
            if matches!(self.peek(), Some('+' | '-')) {
                self.at += 1;
            }
            text.push_str(&self.taken_while(|sign| sign.is_ascii_digit()));
        }
        Number::read(&text.replace('_', ""))
    }

    fn word(&mut self) -> Result<Number, Wrong> {
        let word = self.taken_while(|sign| sign.is_ascii_alphanumeric() || sign == 'π');
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "pi" | "π" => return Ok(Number::Near(std::f64::consts::PI)),
            "e" => return Ok(Number::Near(std::f64::consts::E)),
            _ => {}
        }
        if !self.take('(') {
            return Err(Wrong::Unknown(word));
        }
        let mut values = vec![self.sum()?];
        while self.take(',') {
            values.push(self.sum()?);
        }
        if !self.take(')') {
            return Err(self.unexpected());
        }
        number::apply(&word, &values)
    }

    fn unexpected(&self) -> Wrong {
        self.peek().map_or(Wrong::Unfinished, Wrong::Unexpected)
    }
}

#[cfg(test)]
mod tests;
