//! When to ask a model again: retries by class of error, delays, and what providers say about when.
//!
//! Pure: the random number and the time are arguments. It never sleeps and never counts; the chain
//! does both.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::Value;

use super::fault::ErrorClass;

/// Longest wait that a provider's own words can ask for; more is taken as this much.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// How often to retry, by class of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// For [`ErrorClass::RateLimit`].
    pub rate_limit: u32,
    /// For [`ErrorClass::Timeout`].
    pub timeout: u32,
    /// For [`ErrorClass::Network`].
    pub network: u32,
    /// For [`ErrorClass::Api`], of which only recoverable ones are retried.
    pub api: u32,
    /// For [`ErrorClass::Security`].
    pub security: u32,
    /// For [`ErrorClass::Internal`].
    pub internal: u32,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            rate_limit: 5,
            timeout: 3,
            network: 3,
            api: 2,
            security: 0,
            internal: 1,
        }
    }
}

/// The retry policy for one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recovery {
    /// How often, by class.
    pub max_retries: Retries,
    /// Base of the exponential delay, in seconds.
    pub backoff_multiplier: f64,
    /// The longest delay of our own; a provider may ask for more.
    pub max_backoff: Duration,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            max_retries: Retries::default(),
            backoff_multiplier: 1.5,
            max_backoff: Duration::from_secs(60),
        }
    }
}

impl Recovery {
    /// How often an error of this class is retried.
    #[must_use]
    pub fn retries(&self, class: ErrorClass) -> u32 {
        match class {
            ErrorClass::RateLimit => self.max_retries.rate_limit,
            ErrorClass::Timeout => self.max_retries.timeout,
            ErrorClass::Network => self.max_retries.network,
            ErrorClass::Api => self.max_retries.api,
            ErrorClass::Security => self.max_retries.security,
            ErrorClass::Internal => self.max_retries.internal,
        }
    }

    /// The wait before retry number `n` (from 1): a random share (`random` in 0..1) of
    /// `backoff_multiplier` to the power of `n` seconds, at most `max_backoff`; or `retry_after`
    /// if that is longer.
    #[must_use]
    pub fn delay(&self, n: u32, random: f64, retry_after: Option<Duration>) -> Duration {
        let power = i32::try_from(n).unwrap_or(i32::MAX);
        let most = self
            .backoff_multiplier
            .powi(power)
            .min(self.max_backoff.as_secs_f64());
        let share = if random.is_finite() {
            random.clamp(0.0, 1.0)
        } else {
            1.0
        };
        // A multiplier that is no number (NaN) or negative waits the longest, never not at all.
        let own = Duration::try_from_secs_f64(most * share).unwrap_or(self.max_backoff);
        own.min(self.max_backoff)
            .max(retry_after.unwrap_or_default())
    }
}

/// Reads a `Retry-After` header: seconds, seconds with a fraction, or an HTTP date.
#[must_use]
pub fn retry_after_header(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return value.parse().ok().and_then(seconds);
    }
    let then = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    let now = Timestamp::try_from(now).ok()?;
    let wait = Duration::try_from(then.duration_since(now)).unwrap_or_default();
    Some(wait.min(MAX_RETRY_AFTER))
}

/// Reads a `retry-after-ms` header, which some providers send beside the other for short waits.
#[must_use]
pub fn retry_after_millis(value: &str) -> Option<Duration> {
    value
        .trim()
        .parse::<f64>()
        .ok()
        .and_then(|millis| seconds(millis / 1000.0))
}

/// Finds a wait in the JSON body of an error: a field of that name, the `retryDelay` of a detail,
/// or the words "try again in ...".
#[must_use]
pub fn retry_after_in_body(body: &Value) -> Option<Duration> {
    let error = body.get("error").unwrap_or(body);
    [error, body]
        .into_iter()
        .find_map(field)
        .or_else(|| detail(error))
        .or_else(|| {
            let message = error.get("message").and_then(Value::as_str)?;
            in_words(message)
        })
}

fn field(object: &Value) -> Option<Duration> {
    let number = |key: &str| {
        let value = object.get(key)?;
        value
            .as_f64()
            .or_else(|| value.as_str()?.trim().parse().ok())
    };
    ["retry_after", "retryAfter", "retry_after_seconds"]
        .into_iter()
        .find_map(number)
        .or_else(|| number("retry_after_ms").map(|millis| millis / 1000.0))
        .and_then(seconds)
}

fn detail(error: &Value) -> Option<Duration> {
    error
        .get("details")?
        .as_array()?
        .iter()
        .find_map(|detail| span(detail.get("retryDelay")?.as_str()?))
}

fn in_words(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    ["try again in ", "retry in ", "retry after "]
        .into_iter()
        .find_map(|lead| {
            let (_, rest) = lower.split_once(lead)?;
            let mut words = rest.split_whitespace();
            let first = words.next()?.trim_end_matches(['.', ',', ';', '!', ')']);
            if let Ok(number) = first.parse::<f64>() {
                let unit = words.next().unwrap_or("s");
                return seconds(number * unit_seconds(unit)?);
            }
            span(first)
        })
}

/// A span such as `34s`, `1.5s`, `20ms` or `6m0s`.
fn span(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let unit_at = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, tail) = rest.split_at_checked(unit_at)?;
        let end = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, after) = tail.split_at_checked(end)?;
        total += number.parse::<f64>().ok()? * unit_seconds(unit)?;
        rest = after;
    }
    if text.trim().is_empty() {
        None
    } else {
        seconds(total)
    }
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit.trim_end_matches(['.', ',', ';', '!', ')']) {
        "ms" | "millisecond" | "milliseconds" => Some(0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3600.0),
        _ => None,
    }
}

fn seconds(value: f64) -> Option<Duration> {
    if value.is_nan() || value < 0.0 {
        return None;
    }
    Some(
        Duration::try_from_secs_f64(value)
            .unwrap_or(MAX_RETRY_AFTER)
            .min(MAX_RETRY_AFTER),
    )
}

#[cfg(test)]
mod tests;
