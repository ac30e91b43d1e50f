//! Files that people sent, on their way to the gateway.
//!
//! Owns the two steps (where is it, what is in it) and what a failure of each means. The address of a file holds the
//! token and is shown to nobody.

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use teloxide_core::{payloads::GetFile, types::FileId};
use weirgate_net::http::Broken;
use weirgate_sdk::{Attachment, ConversationKey, Download, DownloadError, Downloads};

use crate::{
    api::{Api, CallError},
    telegram::Telegram,
};

/// The longest path of a file that is believed, in bytes.
const MAX_PATH: usize = 1_024;

#[async_trait]
impl Downloads for Telegram {
    async fn open(
        &self,
        _: &ConversationKey,
        attachment: &Attachment,
    ) -> Result<Download, DownloadError> {
        let shared = self.shared();
        let unusable =
            |error: weirgate_sdk::AdapterError| DownloadError::Refused(error.to_string());
        let api: &Api = shared.calls().map_err(unusable)?;
        let limit = shared.settings.call_timeout;
        let asked = GetFile::new(FileId(attachment.reference.clone()));
        let file = api
            .call(&asked, limit)
            .await
            .map_err(|error| meaning(&error))?;
        let size = file["file_size"].as_u64();
        let path = file["file_path"].as_str().unwrap_or_default();
        if !is_path(path) {
            // A server of one's own that was started with --local names a file on its disk (telegram-bot-api).
            let text =
                "the Bot API server keeps the file on its own disk: start it without --local";
            return Err(DownloadError::Refused(text.into()));
        }
        let response = api
            .file(path, limit)
            .await
            .map_err(|error| meaning(&error))?;
        let size = response.content_length().or(size);
        let pieces = response
            .bytes_stream()
            .map_err(|error| DownloadError::Unavailable(Broken::from(error).to_string()));
        Ok(Download::of(size, Box::pin(pieces)))
    }
}

/// A path below the address for files, which can lead nowhere else.
fn is_path(path: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    (1..=MAX_PATH).contains(&path.len())
        && path.bytes().all(plain)
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn meaning(error: &CallError) -> DownloadError {
    let text = error.to_string();
    let CallError::Refused(refusal) = error else {
        return DownloadError::Unavailable(text);
    };
    // "Bad Request: file is too big": over 20 MB, unless the server is one's own (Bot API, getFile).
    if refusal
        .text
        .to_ascii_lowercase()
        .contains("file is too big")
    {
        return DownloadError::TooLarge;
    }
    match refusal.code {
        429 | 401 | 409 => DownloadError::Unavailable(text),
        _ => DownloadError::Gone(text),
    }
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn a_path_leads_to_a_file_of_the_platform_alone() {
        assert!(is_path("photos/file_12.jpg"));
        for path in [
            "",
            "/var/lib/bot/file",
            "../getMe",
            "a//b",
            "a/./b",
            "a?b",
            "http://example.com/x",
            "a%2e%2e/b",
        ] {
            assert!(!is_path(path), "{path}");
        }
    }
}
