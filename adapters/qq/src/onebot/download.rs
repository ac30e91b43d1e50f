//! Files that people sent, on their way to the gateway.
//!
//! Owns what an attachment is known by, and the order in which its file is looked for: at the address in the message,
//! which is good for minutes to hours, then by asking the implementation. It never reads a file that the implementation
//! names on a disk: the disk is not the gateway's.

use std::borrow::Cow;

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use weirgate_sdk::{
    Attachment, AttachmentKind, ConversationKey, Download, DownloadError, Downloads, SendError,
};

use super::{
    places::{Place, id_value},
    send::Call,
    wire::{self, Raw},
};
use crate::{
    qq::{Qq, Shared},
    settings::Transport,
    web,
};

/// The longest reference to media that the contract takes, in bytes.
pub const MAX_REFERENCE: usize = 1_000;
/// What the implementation's own name of a file in a group's folder begins with here; its kind of store follows.
const IN_GROUP: &str = "group-file:";

/// What a file in a group's folder is known by.
#[must_use]
pub fn in_group(store: Option<i64>, id: &str) -> String {
    format!("{IN_GROUP}{}:{id}", store.unwrap_or_default())
}

/// The kind of store and the id of a file in a group's folder.
fn of_group(own: &str) -> Option<(i64, &str)> {
    let (store, id) = own.strip_prefix(IN_GROUP)?.split_once(':')?;
    Some((store.parse().ok()?, id))
}

/// What an attachment is known by: its address, and behind a line break what the implementation knows it by.
#[must_use]
pub fn reference(address: Option<Cow<'_, str>>, own: Option<Cow<'_, str>>) -> Option<String> {
    match (address, own) {
        (Some(address), Some(own)) => Some(format!("{address}\n{own}")),
        (Some(one), None) | (None, Some(one)) => Some(one.into_owned()),
        (None, None) => None,
    }
}

/// The address and the implementation's own name in a reference.
fn parts(reference: &str) -> (Option<&str>, Option<&str>) {
    let is_address = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    match reference.split_once('\n') {
        Some((address, own)) => (Some(address), Some(own)),
        None if is_address(reference) => (Some(reference), None),
        None => (None, Some(reference)),
    }
}

#[async_trait]
impl Downloads for Qq {
    async fn open(
        &self,
        conversation: &ConversationKey,
        attachment: &Attachment,
    ) -> Result<Download, DownloadError> {
        let shared = self.shared();
        let limit = shared.settings.call_timeout;
        let server = server(shared);
        let (address, own) = parts(&attachment.reference);
        let mut error = DownloadError::Gone("nothing says where it is".into());
        if let Some(address) = address {
            match web::fetch(address, server, limit).await {
                Ok(download) => return Ok(download),
                Err(failed) => error = failed,
            }
        }
        let Some(own) = own else {
            return Err(error);
        };
        let group = match Place::parse(conversation.conversation.as_str()) {
            Some(Place::Group(group)) => group,
            _ => "",
        };
        match asked(shared, attachment.kind, group, own).await? {
            Found::Bytes(bytes) => {
                let size = u64::try_from(bytes.len()).ok();
                Ok(Download::of(size, stream::iter([Ok(bytes)])))
            }
            Found::Address(address) => web::fetch(&address, server, limit).await,
        }
    }
}

/// Where the implementation is, if the gateway connects to it.
fn server(shared: &Shared) -> Option<&str> {
    match &shared.settings.transport {
        Transport::Forward { url } | Transport::Http { url, .. } => Some(url),
        Transport::Reverse { .. } => None,
    }
}

/// What the implementation gives.
enum Found {
    Bytes(Bytes),
    Address(String),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireFile<'a> {
    #[serde(borrow)]
    url: Raw<'a>,
    #[serde(borrow)]
    file: Raw<'a>,
    #[serde(borrow)]
    base64: Raw<'a>,
}

/// Asks the implementation for a file. One in a group's folder has a call of its own, which those know that tell of such
/// files by a notice only.
async fn asked(
    shared: &Shared,
    kind: AttachmentKind,
    group: &str,
    own: &str,
) -> Result<Found, DownloadError> {
    let Some((store, id)) = of_group(own) else {
        return asked_by(shared, own_call(kind, own)).await;
    };
    let call = Call {
        action: "get_group_file_url",
        params: json!({ "group_id": id_value(group), "file_id": id, "busid": store }),
    };
    match asked_by(shared, call).await {
        Err(DownloadError::Gone(_) | DownloadError::Refused(_)) => {
            asked_by(shared, own_call(kind, id)).await
        }
        found => found,
    }
}

/// The call that gives a file by the implementation's own name of it.
fn own_call(kind: AttachmentKind, own: &str) -> Call {
    match kind {
        AttachmentKind::Image => Call {
            action: "get_image",
            params: json!({ "file": own }),
        },
        AttachmentKind::Audio => Call {
            action: "get_record",
            params: json!({ "file": own, "out_format": "mp3" }),
        },
        AttachmentKind::Video | AttachmentKind::File => Call {
            action: "get_file",
            params: json!({ "file_id": own, "file": own }),
        },
    }
}

async fn asked_by(shared: &Shared, call: Call) -> Result<Found, DownloadError> {
    let told = shared.request(&call, shared.settings.call_timeout).await;
    let told = told.map_err(|error| match error {
        SendError::Unavailable(text) | SendError::Ambiguous(text) => {
            DownloadError::Unavailable(text)
        }
        other => DownloadError::Gone(other.to_string()),
    })?;
    let file: WireFile<'_> = wire::object(told.raw());
    let text = |raw| wire::text(raw).filter(|text| !text.is_empty());
    let is_address =
        |text: &Cow<'_, str>| text.starts_with("http://") || text.starts_with("https://");
    let encoded = text(file.base64);
    let inline = text(file.file);
    let encoded = encoded.or_else(|| {
        let inline = inline.as_deref()?.strip_prefix("base64://")?;
        Some(Cow::Owned(inline.to_owned()))
    });
    if let Some(encoded) = encoded {
        let bytes = STANDARD.decode(encoded.as_bytes());
        let unreadable = |_| DownloadError::Unavailable("its bytes cannot be read".into());
        return Ok(Found::Bytes(bytes.map_err(unreadable)?.into()));
    }
    let address = text(file.url).filter(is_address);
    match address.or(inline.filter(is_address)) {
        Some(address) => Ok(Found::Address(address.into_owned())),
        None => Err(DownloadError::Refused(
            "the implementation names a file on its own disk".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_comes_back_as_it_went() {
        let both = reference(Some("https://a/b".into()), Some("x.jpg".into()));
        let both = both.expect("a reference");
        assert_eq!(parts(&both), (Some("https://a/b"), Some("x.jpg")));
        let own = reference(None, Some("x.jpg".into())).expect("a reference");
        assert_eq!(parts(&own), (None, Some("x.jpg")));
        let address = reference(Some("http://a/b".into()), None).expect("a reference");
        assert_eq!(parts(&address), (Some("http://a/b"), None));
        assert_eq!(reference(None, None), None);
        let own = in_group(Some(102), "/a:b");
        assert_eq!(of_group(&own), Some((102, "/a:b")));
        assert_eq!(of_group(&in_group(None, "x")), Some((0, "x")));
        assert_eq!(of_group("x.jpg"), None);
    }
}
