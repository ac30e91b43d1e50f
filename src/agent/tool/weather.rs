//! The tool `weather`: asks the weather service that the operator named.
//!
//! Owns the service's addresses and how its answers are read. Without a service the tool is not offered. Source: the
//! geocoding API (`/v1/search`) and the forecast API (`/v1/forecast`) of Open-Meteo.

use async_trait::async_trait;
use reqwest::{Client, Url};
use serde_json::{Value, json};
use weirgate_sdk::settings::{Fields, Secret};

use super::{Call, Fault, Given, Spec, Tool, fetch};
use crate::{
    config::address,
    i18n::{
        Language,
        trouble::Trouble,
        weather::{Day, Now, Weather},
    },
    security::fence::{Origin, label},
};

/// The name.
pub const NAME: &str = "weather";
/// Most bytes of an answer.
const MAX_BYTES: usize = 256 * 1024;
/// Days that are told, and the most that can be asked for.
const DAYS: u64 = 3;
const MOST_DAYS: u64 = 7;
/// Where the service is, by default: places, and forecasts; with a key, the forecasts of customers.
const PLACES: &str = "https://geocoding-api.open-meteo.com";
const FORECASTS: &str = "https://api.open-meteo.com";
const OF_CUSTOMERS: &str = "https://customer-api.open-meteo.com";
/// What is asked for.
const CURRENT: &str =
    "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m";
const DAILY: &str =
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max";

/// A weather service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// None: the tool is not offered.
    None,
    /// Open-Meteo, or an instance of one's own.
    OpenMeteo,
}

/// What it is told by the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Who is asked.
    pub service: Service,
    /// Where it is, without a slash at the end; `None` for its public addresses.
    pub base_url: Option<String>,
    /// The key of a customer.
    pub api_key: Option<Secret>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            service: Service::None,
            base_url: None,
            api_key: None,
        }
    }
}

impl Settings {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let services = [("none", Service::None), ("open-meteo", Service::OpenMeteo)];
        let read = Self {
            service: fields.choice("service", Service::None, &services),
            base_url: fields.get("base_url").as_ref().and_then(address::base_url),
            api_key: fields.secret("api_key"),
        };
        fields.finish();
        read
    }
}

/// The tool.
#[derive(Debug)]
pub struct WeatherTool {
    spec: Spec,
    settings: Settings,
    client: Client,
}

/// A place on the earth.
struct Place {
    name: String,
    latitude: String,
    longitude: String,
}

impl WeatherTool {
    /// The tool, if there is a service.
    #[must_use]
    pub fn new(settings: &Settings) -> Option<Self> {
        if settings.service == Service::None {
            return None;
        }
        let parameters = json!({
            "type": "object",
            "properties": {
                "place": {"type": "string", "minLength": 1, "maxLength": 100,
                    "description": "a town, in any language; nothing but its name"},
                "days": {"type": "integer", "minimum": 1, "maximum": MOST_DAYS},
                "language": {"enum": Language::ALL.map(Language::tag)}
            },
            "required": ["place"],
            "additionalProperties": false
        });
        let about = "Tells the weather of a place now and in the next days.";
        Some(Self {
            spec: Spec::reading(NAME, about, parameters),
            settings: settings.clone(),
            // The operator named the service, so it may be anywhere.
            client: fetch::plain_client()?,
        })
    }

    fn base(&self, usual: &'static str) -> &str {
        self.settings.base_url.as_deref().unwrap_or(usual)
    }

    async fn ask(&self, base: &str, path: &str, query: &[(&str, &str)]) -> Result<Value, Fault> {
        let url = format!("{base}{path}");
        let mut url = Url::parse_with_params(&url, query)
            .map_err(|_| Fault::of(Trouble::SetUpWrongly, false))?;
        if let Some(key) = &self.settings.api_key {
            url.query_pairs_mut().append_pair("apikey", key.expose());
        }
        let answer = self.client.get(url).send().await;
        let mut answer = answer.map_err(|_| Fault::of(Trouble::Unreachable, true))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(fetch::refused(status));
        }
        let (bytes, _) = fetch::read(&mut answer, MAX_BYTES).await?;
        serde_json::from_slice(&bytes).map_err(|_| Fault::of(Trouble::Unreadable, false))
    }

    async fn find(&self, name: &str, language: Language) -> Result<Place, Fault> {
        let query = [
            ("name", name),
            ("count", "1"),
            ("language", language.code()),
        ];
        let found = self.ask(self.base(PLACES), "/v1/search", &query).await?;
        let place = found.pointer("/results/0").and_then(place);
        place.ok_or_else(|| Fault::of(Trouble::NoPlace, false))
    }

    async fn forecast(&self, place: &Place, days: u64) -> Result<Value, Fault> {
        let usual = if self.settings.api_key.is_some() {
            OF_CUSTOMERS
        } else {
            FORECASTS
        };
        let days = days.to_string();
        let query = [
            ("latitude", &*place.latitude),
            ("longitude", &*place.longitude),
            ("current", CURRENT),
            ("daily", DAILY),
            ("timezone", "auto"),
            ("forecast_days", &*days),
        ];
        self.ask(self.base(usual), "/v1/forecast", &query).await
    }
}

#[async_trait]
impl Tool for WeatherTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let language = Language::from_tag(call.text("language")).unwrap_or(Language::En);
        let place = self.find(call.text("place").trim(), language).await?;
        let days = call.arguments.get("days").and_then(Value::as_u64);
        let forecast = self.forecast(&place, days.unwrap_or(DAYS)).await?;
        let weather = weather(place.name, &forecast);
        if weather.now.is_none() && weather.days.is_empty() {
            return Err(Fault::of(Trouble::Unreadable, false));
        }
        Ok(Given {
            text: weather.render(language),
            origin: Some(Origin::WebPage),
        })
    }
}

fn place(found: &Value) -> Option<Place> {
    let word = |key: &str| found.get(key).and_then(Value::as_str).map(label);
    let mut names: Vec<String> = ["name", "admin1", "country"]
        .into_iter()
        .filter_map(word)
        .collect();
    names.dedup();
    let number = |key: &str| Some(found.get(key)?.as_f64()?.to_string());
    Some(Place {
        name: names.join(", "),
        latitude: number("latitude")?,
        longitude: number("longitude")?,
    })
}

/// Reads a forecast; what is not there is left out.
fn weather(place: String, forecast: &Value) -> Weather {
    let current = |key: &str| forecast.get("current")?.get(key);
    let measured = |key: &str| current(key)?.as_f64();
    let now = || {
        Some(Now {
            time: label(current("time")?.as_str()?).replace('T', " "),
            code: current("weather_code")?.as_u64()?,
            temperature: measured("temperature_2m")?,
            feels: measured("apparent_temperature")?,
            humidity: measured("relative_humidity_2m")?,
            wind: measured("wind_speed_10m")?,
        })
    };
    let of = |key: &str, day: usize| forecast.get("daily")?.get(key)?.get(day);
    let day = |day: usize| {
        Some(Day {
            date: label(of("time", day)?.as_str()?),
            code: of("weather_code", day)?.as_u64()?,
            low: of("temperature_2m_min", day)?.as_f64()?,
            high: of("temperature_2m_max", day)?.as_f64()?,
            rain: of("precipitation_probability_max", day).and_then(Value::as_f64),
        })
    };
    let most = usize::try_from(MOST_DAYS).unwrap_or_default();
    Weather {
        place,
        now: now(),
        days: (0..most).map_while(day).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_far_as_they_go() {
        let forecast = json!({
            "current": {"time": "2026-12-01T20:00", "temperature_2m": 7.6, "apparent_temperature": 5,
                "relative_humidity_2m": 80, "weather_code": 61, "wind_speed_10m": 12.2},
            "daily": {"time": ["2026-12-01", "2026-12-02"], "weather_code": [3, 0],
                "temperature_2m_max": [9.5, 11], "temperature_2m_min": [2, null],
                "precipitation_probability_max": [70, 0]}
        });
        let read = weather("X".to_owned(), &forecast);
        assert_eq!(read.now.unwrap().code, 61);
        assert_eq!((read.days.len(), read.days[0].rain), (1, Some(70.0)));
        for odd in [
            json!({}),
            json!([]),
            json!({"current": 5, "daily": {"time": "x"}}),
        ] {
            let read = weather(String::new(), &odd);
            assert!(read.now.is_none() && read.days.is_empty(), "{odd}");
        }
        let twice = json!({"name": "Shanghai", "admin1": "Shanghai", "country": "China",
            "latitude": 31.22, "longitude": 121.46});
        let found = place(&twice).unwrap();
        assert_eq!(
            (&*found.name, &*found.latitude),
            ("Shanghai, China", "31.22")
        );
        assert!(place(&json!({"name": "nowhere"})).is_none());
    }
}
