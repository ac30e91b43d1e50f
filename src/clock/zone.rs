//! The time zone in which times are shown to people.
//!
//! Owns how a zone is named and how a time looks. The rules of all zones are part of the program, so that
//! they hold in a container without any files. What is stored is UTC and knows no zone.

use std::time::SystemTime;

use jiff::{Timestamp, tz::TimeZone};

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self::utc()
    }
}

impl Zone {
    /// Greenwich.
    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The zone of this name, such as `Asia/Shanghai`; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if matches!(name, "UTC" | "Etc/UTC") {
            return Some(Self::utc());
        }
        TimeZone::get(name).ok().map(Self)
    }

    /// What the variable `TZ` means: a name, perhaps behind a colon, or the system's own way to write a
    /// rule, such as `CST-8`. Nothing is UTC; `None` if it means nothing.
    #[must_use]
    pub fn of_variable(value: Option<&str>) -> Option<Self> {
        let value = value.unwrap_or_default();
        let value = value.strip_prefix(':').unwrap_or(value);
        if value.is_empty() {
            return Some(Self::utc());
        }
        Self::named(value).or_else(|| TimeZone::posix(value).ok().map(Self))
    }

    /// What the variable `TZ` of this process means; UTC if that is nothing.
    #[must_use]
    pub fn of_process() -> Self {
        let variable = std::env::var("TZ").ok();
        Self::of_variable(variable.as_deref()).unwrap_or_default()
    }

    /// Its rules, for sums with dates.
    #[must_use]
    pub fn zone(&self) -> TimeZone {
        self.0.clone()
    }

    /// A time as RFC 3339 with microseconds and the zone's offset; `Z` in UTC.
    #[must_use]
    pub fn stamp(&self, time: SystemTime) -> String {
        let Ok(time) = Timestamp::try_from(time) else {
            return String::new();
        };
        let form = if self.0 == TimeZone::UTC {
            "%Y-%m-%dT%H:%M:%S.%6fZ"
        } else {
            "%Y-%m-%dT%H:%M:%S.%6f%:z"
        };
        time.to_zoned(self.0.clone()).strftime(form).to_string()
    }
}

/// A time to the minute in a zone, for people; empty for a time that no calendar has.
#[must_use]
pub fn minute_in(at: weirgate_sdk::Timestamp, zone: &Zone) -> String {
    Timestamp::from_millisecond(at).map_or_else(
        |_| String::new(),
        |at| {
            let there = at.to_zoned(zone.zone());
            there.strftime("%Y-%m-%d %H:%M").to_string()
        },
    )
}

/// A time to the minute in UTC, for people; empty for a time that no calendar has.
#[must_use]
pub fn minute(at: weirgate_sdk::Timestamp) -> String {
    Timestamp::from_millisecond(at).map_or_else(
        |_| String::new(),
        |at| at.strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// A time to the second in UTC, for the name of a file; empty for a time that no calendar has.
#[must_use]
pub fn compact(at: weirgate_sdk::Timestamp) -> String {
    Timestamp::from_millisecond(at).map_or_else(
        |_| String::new(),
        |at| at.strftime("%Y%m%d-%H%M%S").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_micros(42)
    }

    fn stamp(zone: Option<Zone>, seconds: u64) -> String {
        zone.unwrap().stamp(at(seconds))
    }

    #[test]
    fn names_and_variables_mean_zones() {
        let time = 1_764_590_400;
        let named = |name| stamp(Zone::named(name), time);
        assert_eq!(named("UTC"), "2025-12-01T12:00:00.000042Z");
        assert_eq!(named("Asia/Shanghai"), "2025-12-01T20:00:00.000042+08:00");
        let variable = |value| stamp(Zone::of_variable(value), time);
        assert_eq!(variable(None), named("UTC"));
        assert_eq!(variable(Some("")), named("UTC"));
        assert_eq!(variable(Some(":Asia/Shanghai")), named("Asia/Shanghai"));
        assert_eq!(variable(Some("CST-8")), named("Asia/Shanghai"));
        assert_eq!(Zone::named("Mars/Base"), None);
        assert_eq!(Zone::of_variable(Some("Mars/Base")), None);
    }

    #[test]
    fn the_night_on_which_clocks_change_is_told_by_the_offset() {
        // 2026-03-29 01:00 UTC: Warsaw goes from 02:00 to 03:00.
        let change = 1_774_746_000;
        let warsaw = |time| stamp(Zone::named("Europe/Warsaw"), time);
        assert_eq!(warsaw(change - 1), "2026-03-29T01:59:59.000042+01:00");
        assert_eq!(warsaw(change), "2026-03-29T03:00:00.000042+02:00");
    }
}
