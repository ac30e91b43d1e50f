//! The weather in words.
//!
//! Owns the words for the codes of the World Meteorological Organization that forecasts carry (table 4677, as far
//! as they use it), and how a report reads.

use super::Language;

/// A report. Temperatures are in degrees Celsius, wind in kilometres an hour, the rest in per cent.
#[derive(Debug, Clone, PartialEq)]
pub struct Weather {
    /// Of where.
    pub place: String,
    /// What is now.
    pub now: Option<Now>,
    /// The days, today first.
    pub days: Vec<Day>,
}

/// What is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Now {
    /// The local time.
    pub time: String,
    /// The code of the weather.
    pub code: u64,
    /// The temperature.
    pub temperature: f64,
    /// As it feels.
    pub feels: f64,
    /// The humidity of the air.
    pub humidity: f64,
    /// The speed of the wind.
    pub wind: f64,
}

/// One day.
#[derive(Debug, Clone, PartialEq)]
pub struct Day {
    /// The date.
    pub date: String,
    /// The code of the weather.
    pub code: u64,
    /// The lowest temperature.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// How likely rain or snow is.
    pub rain: Option<f64>,
}

/// What is said where there is no report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoWeather {
    /// Nobody is asked for it.
    Off,
    /// No place was named.
    Where,
}

impl NoWeather {
    /// The text in a language.
    #[must_use]
    pub fn render(self, language: Language) -> String {
        let text = match (self, language) {
            (Self::Off, Language::En) => {
                "The weather is not set up here (tools.weather in agent.yaml)."
            }
            (Self::Off, Language::Zh) => "这里没有配置天气服务（agent.yaml 的 tools.weather）。",
            (Self::Where, Language::En) => "Where? For example: /weather Hangzhou",
            (Self::Where, Language::Zh) => "哪里？例如：/weather 杭州",
        };
        text.to_owned()
    }
}

impl Weather {
    /// The report in a language.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        let mut lines = vec![self.place.clone()];
        lines.extend(self.now.as_ref().map(|now| now.render(language)));
        lines.extend(self.days.iter().map(|day| day.render(language)));
        lines.join("\n")
    }
}

impl Now {
    fn render(&self, language: Language) -> String {
        let Self {
            time,
            code,
            temperature,
            feels,
            humidity,
            wind,
        } = self;
        let sky = sky(*code, language);
        match language {
            Language::En => format!(
                "Now ({time}): {sky}, {temperature:.0} °C, feels like {feels:.0} °C, humidity {humidity:.0} %, \
                 wind {wind:.0} km/h"
            ),
            Language::Zh => format!(
                "现在（{time}）：{sky}，{temperature:.0} °C，体感 {feels:.0} °C，湿度 {humidity:.0} %，\
                 风速 {wind:.0} 公里/小时"
            ),
        }
    }
}

impl Day {
    fn render(&self, language: Language) -> String {
        let Self {
            date,
            code,
            low,
            high,
            rain,
        } = self;
        let sky = sky(*code, language);
        match language {
            Language::En => {
                let rain =
                    rain.map_or_else(String::new, |rain| format!(", precipitation {rain:.0} %"));
                format!("{date}: {sky}, {low:.0} to {high:.0} °C{rain}")
            }
            Language::Zh => {
                let rain = rain.map_or_else(String::new, |rain| format!("，降水概率 {rain:.0} %"));
                format!("{date}：{sky}，{low:.0} 到 {high:.0} °C{rain}")
            }
        }
    }
}

/// A code of the weather in words.
fn sky(code: u64, language: Language) -> &'static str {
    let (en, zh) = match code {
        0 => ("clear", "晴"),
        1 => ("mainly clear", "大致晴朗"),
        2 => ("partly cloudy", "局部多云"),
        3 => ("overcast", "阴"),
        45 | 48 => ("fog", "雾"),
        51 | 53 | 55 => ("drizzle", "毛毛雨"),
        56 | 57 => ("freezing drizzle", "冻毛毛雨"),
        61 => ("light rain", "小雨"),
        63 => ("rain", "中雨"),
        65 => ("heavy rain", "大雨"),
        66 | 67 => ("freezing rain", "冻雨"),
        71 => ("light snow", "小雪"),
        73 => ("snow", "中雪"),
        75 => ("heavy snow", "大雪"),
        77 => ("snow grains", "米雪"),
        80 | 81 => ("showers", "阵雨"),
        82 => ("violent showers", "强阵雨"),
        85 | 86 => ("snow showers", "阵雪"),
        95 => ("thunderstorm", "雷暴"),
        96 | 99 => ("thunderstorm with hail", "雷暴伴冰雹"),
        _ => ("unknown weather", "天气不明"),
    };
    match language {
        Language::En => en,
        Language::Zh => zh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_in_both_languages() {
        let weather = Weather {
            place: "杭州".to_owned(),
            now: Some(Now {
                time: "2026-12-01 20:00".to_owned(),
                code: 61,
                temperature: 7.6,
                feels: 0.4,
                humidity: 80.0,
                wind: 12.2,
            }),
            days: vec![Day {
                date: "2026-12-01".to_owned(),
                code: 3,
                low: 2.0,
                high: 9.5,
                rain: None,
            }],
        };
        assert_eq!(
            weather.render(Language::En),
            "杭州\nNow (2026-12-01 20:00): light rain, 8 °C, feels like 0 °C, humidity 80 %, wind 12 km/h\n\
             2026-12-01: overcast, 2 to 10 °C"
        );
        assert!(weather.render(Language::Zh).contains("小雨，8 °C，体感"));
    }
}
