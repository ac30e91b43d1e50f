//! The tool `date_time`: the date and the time, here or in another zone, and sums with dates.
//!
//! Owns its schema and the form of a date. It reads no clock: the time is part of the call.

use async_trait::async_trait;
use jiff::{Span, Timestamp, Zoned, civil::DateTime};
use serde_json::json;

use super::{Call, Fault, Given, Spec, Tool};
use crate::clock::Zone;

/// The name.
pub const NAME: &str = "date_time";

/// The tool.
#[derive(Debug)]
pub struct DateTimeTool(Spec);

impl Default for DateTimeTool {
    fn default() -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "zone": {"type": "string", "description": "IANA time zone such as Asia/Shanghai; \
                    left out: the zone of this chat"},
                "at": {"type": "string", "description": "a date and time such as 2026-03-01T09:30 in \
                    that zone, or with an offset; left out: now"},
                "add": {"type": "string", "description": "a span to add, as ISO 8601 or in words: \
                    P1Y2M3DT4H, 3 days, -2 weeks"}
            },
            "additionalProperties": false
        });
        let about = "Tells the date, the time and the weekday: now, at a given time, in any time zone, \
                     and after adding a span.";
        Self(Spec::reading(NAME, about, parameters))
    }
}

#[async_trait]
impl Tool for DateTimeTool {
    fn spec(&self) -> &Spec {
        &self.0
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let zone = match call.text("zone") {
            "" => call.zone.clone(),
            name => Zone::named(name).ok_or_else(|| {
                Fault::lasting("There is no time zone of this name. Use one such as Asia/Shanghai.")
            })?,
        };
        let now = Timestamp::from_millisecond(call.now)
            .map_err(|_| Fault::lasting("The clock of the gateway is wrong."))?;
        told(call.text("at"), call.text("add"), &zone, now).map(Given::own)
    }
}

fn told(at: &str, add: &str, zone: &Zone, now: Timestamp) -> Result<String, Fault> {
    let start = match at.trim() {
        "" => now.to_zoned(zone.zone()),
        text => moment(text, zone).ok_or_else(|| {
            Fault::lasting("The time cannot be read. Write it as 2026-03-01T09:30.")
        })?,
    };
    let then = match add.trim() {
        "" => start,
        text => {
            let span: Span = text.parse().map_err(|_| {
                Fault::lasting("The span cannot be read. Write it as P1DT2H or as 3 days.")
            })?;
            start
                .checked_add(span)
                .map_err(|_| Fault::lasting("No calendar has that date."))?
        }
    };
    let name = then.time_zone().iana_name().unwrap_or("local time");
    let date = then.strftime("%A, %Y-%m-%d %H:%M:%S, UTC%:z, week %G-W%V, day %j");
    Ok(format!("{date} ({name})"))
}

/// A time with or without an offset.
fn moment(text: &str, zone: &Zone) -> Option<Zoned> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.to_zoned(zone.zone()));
    }
    let at: DateTime = text.parse().ok()?;
    at.to_zoned(zone.zone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(at: &str, add: &str) -> Result<String, String> {
        let now = "2026-02-27T16:30:00Z".parse().unwrap();
        let zone = Zone::named("Asia/Shanghai").unwrap();
        told(at, add, &zone, now).map_err(|fault| fault.given.text)
    }

    #[test]
    fn dates_are_told_in_the_zone_and_added_to() {
        let now = say("", "").unwrap();
        assert!(
            now.starts_with("Saturday, 2026-02-28 00:30:00, UTC+08:00"),
            "{now}"
        );
        assert!(say("", "2 days").unwrap().starts_with("Monday, 2026-03-02"));
        assert!(
            say("2024-02-28", "P1D")
                .unwrap()
                .contains("2024-02-29 00:00:00")
        );
        assert!(say("2026-01-01T00:00Z", "").unwrap().contains("08:00:00"));
        assert!(say("2026-01-31", "P1M").unwrap().contains("2026-02-28"));
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        for (at, add) in [
            ("soon", ""),
            ("", "some time"),
            ("9999-12-31", "P1Y"),
            ("2026-02-30", ""),
        ] {
            assert!(say(at, add).is_err(), "{at} {add}");
        }
    }
}
