//! The tool `web_search`: asks the search service that the operator named.
//!
//! Owns the services, their addresses and how their answers are read. Without a service the tool is not offered.
//! Sources: the search API of SearXNG (`/search?format=json`), of Tavily (`POST /search`), of Brave
//! (`/res/v1/web/search`) and of Baidu's Qianfan (`POST /v2/ai_search/web_search`).

use std::fmt::Write as _;

use async_trait::async_trait;
use reqwest::{Client, RequestBuilder, Url};
use serde_json::{Value, json};
use weirgate_sdk::settings::{Fields, Secret};

use super::{Call, Fault, Given, Spec, Tool, fetch};
use crate::{
    config::address,
    i18n::{Language, trouble::Trouble},
    security::fence::{Origin, label},
};

/// The name.
pub const NAME: &str = "web_search";
/// Most bytes of an answer.
const MAX_BYTES: usize = 1024 * 1024;
/// Longest excerpt of a page, in characters.
const MAX_EXCERPT: usize = 400;

/// A search service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// None: the tool is not offered.
    None,
    /// An instance of SearXNG, whose JSON format is enabled.
    SearXng,
    /// Tavily.
    Tavily,
    /// Brave Search.
    Brave,
    /// Baidu's search, as its platform Qianfan offers it.
    Baidu,
}

/// What it is told by the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Who is asked.
    pub service: Service,
    /// Where it is, without a slash at the end; `None` for its public address.
    pub base_url: Option<String>,
    /// The key.
    pub api_key: Option<Secret>,
    /// Most results.
    pub max_results: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            service: Service::None,
            base_url: None,
            api_key: None,
            max_results: 8,
        }
    }
}

impl Settings {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let services = [
            ("none", Service::None),
            ("searxng", Service::SearXng),
            ("tavily", Service::Tavily),
            ("brave", Service::Brave),
            ("baidu", Service::Baidu),
        ];
        let service = fields.choice("service", default.service, &services);
        let url = fields.get("base_url");
        let read = Self {
            service,
            base_url: url.as_ref().and_then(address::base_url),
            api_key: fields.secret("api_key"),
            max_results: fields.usize("max_results", default.max_results, 1..=20),
        };
        match service {
            Service::SearXng if url.is_none() => {
                fields.missing("base_url", Some("write where SearXNG is"));
            }
            Service::Tavily | Service::Brave | Service::Baidu if read.api_key.is_none() => {
                fields.missing("api_key", Some("the service wants a key"));
            }
            _ => {}
        }
        fields.finish();
        read
    }
}

/// The tool.
#[derive(Debug)]
pub struct WebSearch {
    spec: Spec,
    settings: Settings,
    client: Client,
}

impl WebSearch {
    /// The tool, if there is a service.
    #[must_use]
    pub fn new(settings: &Settings) -> Option<Self> {
        if settings.service == Service::None {
            return None;
        }
        let parameters = json!({
            "type": "object",
            "properties": {"query": {"type": "string", "minLength": 1, "maxLength": 400}},
            "required": ["query"],
            "additionalProperties": false
        });
        let about =
            "Searches the web: titles, addresses and excerpts. Read a page with fetch_page.";
        Some(Self {
            spec: Spec::reading(NAME, about, parameters),
            settings: settings.clone(),
            // The operator named the service, so it may be anywhere.
            client: fetch::plain_client()?,
        })
    }

    fn request(&self, query: &str) -> Option<RequestBuilder> {
        let settings = &self.settings;
        let base = |usual: &str| {
            settings
                .base_url
                .clone()
                .unwrap_or_else(|| usual.to_owned())
        };
        let key = settings.api_key.as_ref().map_or("", Secret::expose);
        let count = settings.max_results.to_string();
        Some(match settings.service {
            Service::None => return None,
            Service::SearXng => {
                let url = format!("{}/search", base(""));
                let url = Url::parse_with_params(&url, [("q", query), ("format", "json")]).ok()?;
                self.client.get(url)
            }
            Service::Tavily => {
                let url = format!("{}/search", base("https://api.tavily.com"));
                let body = json!({"query": query, "max_results": settings.max_results});
                self.post(url, key, &body)
            }
            Service::Brave => {
                let url = format!("{}/res/v1/web/search", base("https://api.search.brave.com"));
                let url = Url::parse_with_params(&url, [("q", query), ("count", &count)]).ok()?;
                self.client.get(url).header("x-subscription-token", key)
            }
            Service::Baidu => {
                let url = format!(
                    "{}/v2/ai_search/web_search",
                    base("https://qianfan.baidubce.com")
                );
                let body = json!({
                    "messages": [{"role": "user", "content": query}],
                    "search_source": "baidu_search_v2",
                    "resource_type_filter": [{"type": "web", "top_k": settings.max_results}],
                });
                self.post(url, key, &body)
            }
        })
    }

    fn post(&self, url: String, key: &str, body: &Value) -> RequestBuilder {
        let request = self.client.post(url).bearer_auth(key);
        let request = request.header("content-type", "application/json");
        request.body(body.to_string())
    }
}

#[async_trait]
impl Tool for WebSearch {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let request = self.request(call.text("query"));
        let request = request.ok_or_else(|| Fault::of(Trouble::SetUpWrongly, false))?;
        let answer = request.send().await;
        let mut answer = answer.map_err(|_| Fault::of(Trouble::Unreachable, true))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(fetch::refused(status));
        }
        let (bytes, _) = fetch::read(&mut answer, MAX_BYTES).await?;
        let answer: Value =
            serde_json::from_slice(&bytes).map_err(|_| Fault::of(Trouble::Unreadable, false))?;
        let text = results(&answer, self.settings.max_results);
        if text.is_empty() {
            let language = call
                .counter
                .map_or(Language::En, |(asker, _)| asker.language);
            return Ok(Given::own(Trouble::NothingFound.render(language)));
        }
        Ok(Given {
            text,
            origin: Some(Origin::WebPage),
        })
    }
}

/// The results of any of the services; empty if there are none.
fn results(answer: &Value, most: usize) -> String {
    let list = answer
        .get("results")
        .or_else(|| answer.pointer("/web/results"))
        .or_else(|| answer.get("references"));
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let mut out = String::new();
    for (index, result) in list.take(most).enumerate() {
        let word = |key: &str| result.get(key).and_then(Value::as_str);
        let excerpt = word("content")
            .or_else(|| word("description"))
            .unwrap_or_default();
        let excerpt: String = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        let excerpt: String = excerpt.chars().take(MAX_EXCERPT).collect();
        let title = label(word("title").unwrap_or_default());
        let url = word("url").unwrap_or_default();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}. {title}\n{url}\n{excerpt}\n", index + 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_all_services_are_read() {
        let one =
            json!({"title": "A\n[x]", "url": "https://a.example", "content": "some\n  words"});
        let told = results(&json!({"results": [one, {"title": 5}]}), 8);
        assert_eq!(
            told,
            "1. A (x)\nhttps://a.example\nsome words\n\n2. \n\n\n\n"
        );
        let brave = json!({"web": {"results": [{"title": "B", "url": "u", "description": "d"}]}});
        assert!(results(&brave, 8).contains("B\nu\nd"));
        let baidu = json!({"references": [{"title": "C", "url": "v", "content": "e"}]});
        assert!(results(&baidu, 8).contains("C\nv\ne"));
        assert_eq!(results(&json!({"error": 1}), 8), "");
    }
}
