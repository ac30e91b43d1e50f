//! Files of messages, on their way to the gateway.
//!
//! Owns which addresses are followed, and how one that has expired is renewed: they are signed for about a day, and the
//! message itself tells a fresh one.

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use reqwest::{Response, Url};
use serde_json::Value;
use weirgate_net::http::Broken;
use weirgate_sdk::{Attachment, ConversationKey, Download, DownloadError, Downloads};

use crate::{
    api::{Api, Call, CallError, Verb},
    channels::id,
    discord::Discord,
    places::{Snowflake, number},
};

/// What an attachment is known by: the number of its message, if there is one, and its address.
#[must_use]
pub fn reference(message: &Value, address: &str) -> String {
    match id(message) {
        Some(message) => format!("{message} {address}"),
        None => address.to_owned(),
    }
}

/// The message and the address in a reference.
fn parts(reference: &str) -> (Option<Snowflake>, &str) {
    match reference.split_once(' ') {
        Some((message, address)) => (number(message), address),
        None => (None, reference),
    }
}

#[async_trait]
impl Downloads for Discord {
    async fn open(
        &self,
        _: &ConversationKey,
        attachment: &Attachment,
    ) -> Result<Download, DownloadError> {
        let shared = self.shared();
        let unusable =
            |error: weirgate_sdk::AdapterError| DownloadError::Refused(error.to_string());
        let api = shared.calls().map_err(unusable)?;
        let limit = shared.settings.call_timeout;
        let (message, address) = parts(&attachment.reference);
        let address = followed(api, address)?;
        let response = match (api.file(address.clone(), limit).await, message) {
            (Ok(response), _) => Ok(response),
            // What has expired is refused, or not found.
            (Err(CallError::Refused(_)), Some(message)) => {
                let fresh = fresh(api, message, &address, limit).await?;
                api.file(fresh, limit).await
            }
            (Err(error), _) => Err(error),
        };
        let response: Response = response.map_err(|error| meaning(&error))?;
        let size = response.content_length();
        let pieces = response
            .bytes_stream()
            .map_err(|error| DownloadError::Unavailable(Broken::from(error).to_string()));
        Ok(Download::of(size, Box::pin(pieces)))
    }
}

/// An address that is followed.
fn followed(api: &Api, address: &str) -> Result<Url, DownloadError> {
    let url: Option<Url> = address.parse().ok();
    url.filter(|url| api.vouches_for(url))
        .ok_or_else(|| DownloadError::Refused("it is not on the platform's own servers".into()))
}

/// The address of the same file, as its message tells it now.
async fn fresh(
    api: &Api,
    message: Snowflake,
    address: &Url,
    limit: std::time::Duration,
) -> Result<Url, DownloadError> {
    let gone = || DownloadError::Gone("its address is no longer good".into());
    // /attachments/<channel>/<attachment>/<name>
    let mut path = address.path_segments().ok_or_else(gone)?.skip(1);
    let mut next = || path.next().and_then(number).ok_or_else(gone);
    let (channel, file) = (next()?, next()?);
    let told = api
        .get(Call::Message(Verb::Get, channel, message), limit)
        .await;
    let told = told.map_err(|error| meaning(&error))?;
    let files = told["attachments"].as_array().into_iter().flatten();
    let mut same = files.filter(|one| id(&one["id"]) == Some(file));
    let found = same.find_map(|one| one["url"].as_str()).ok_or_else(gone)?;
    followed(api, found)
}

fn meaning(error: &CallError) -> DownloadError {
    let text = error.to_string();
    match error {
        CallError::Refused(refusal) if refusal.code != 429 => DownloadError::Gone(text),
        _ => DownloadError::Unavailable(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_has_the_message_where_there_is_one() {
        let address = "https://cdn.discordapp.com/attachments/1/2/a.png?ex=1";
        let with = reference(&json!("42"), address);
        assert_eq!(parts(&with), (Some(42), address));
        let without = reference(&Value::Null, address);
        assert_eq!(parts(&without), (None, address));
    }

    #[test]
    fn only_the_platforms_own_servers_are_asked() {
        let api = Api::new("https://discord.com/api/v10", "t", "0").expect("a client");
        let vouches = |address: &str| followed(&api, address).is_ok();
        assert!(vouches("https://cdn.discordapp.com/attachments/1/2/a.png"));
        assert!(vouches(
            "https://media.discordapp.net/attachments/1/2/a.png"
        ));
        for address in [
            "http://cdn.discordapp.com/a",
            "https://cdn.discordapp.com.example.com/a",
            "https://user@cdn.discordapp.com/a",
            "https://127.0.0.1/a",
            "http://169.254.169.254/latest",
            "file:///etc/passwd",
            "nonsense",
        ] {
            assert!(!vouches(address), "{address}");
        }
    }
}
