//! Files on their way out: as files of a group or of a person.
//!
//! Owns the calls. OneBot takes a file as text in the call or from a disk or server that the implementation can reach;
//! only the first works wherever the two run. So the file is in memory once, and few are at once.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use tokio::sync::Semaphore;
use weirgate_sdk::{ConversationKey, OutgoingFile, SendError, Sent};

use super::{
    places::{Place, id_value},
    send::Call,
};
use crate::qq::Shared;

/// The largest file, in bytes: as text it is a third longer, and implementations take frames of 16 MiB at the least.
pub const LARGEST: u64 = 8 * 1024 * 1024;
/// Files in memory at once, of all accounts.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// Sends a file.
///
/// # Errors
/// The class of what went wrong; an implementation that has no such call rejects it.
pub async fn send(
    shared: &Shared,
    conversation: &ConversationKey,
    file: &OutgoingFile,
) -> Result<Sent, SendError> {
    let place = Place::parse(conversation.conversation.as_str())
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))?;
    // Never closed.
    let _turn = AT_ONCE.acquire().await;
    let encoded = encoded(file).await?;
    let call = match place {
        Place::Group(group) => Call {
            action: "upload_group_file",
            params: json!({ "group_id": id_value(group), "file": encoded, "name": file.name }),
        },
        Place::Private(user) => Call {
            action: "upload_private_file",
            params: json!({ "user_id": id_value(user), "file": encoded, "name": file.name }),
        },
        Place::Temporary { .. } => {
            let text = "files cannot be sent through a group".to_owned();
            return Err(SendError::Rejected(text));
        }
    };
    let sent = shared.request(&call, shared.settings.call_timeout).await;
    sent.map(|_| Sent::default())
}

async fn encoded(file: &OutgoingFile) -> Result<String, SendError> {
    let gone = |error: weirgate_sdk::DownloadError| SendError::Rejected(error.to_string());
    if file.size > LARGEST {
        return Err(SendError::TooLong);
    }
    let mut content = file.source.open().await.map_err(gone)?;
    let mut bytes = Vec::new();
    while let Some(piece) = content.next().await.map_err(gone)? {
        bytes.extend_from_slice(&piece);
        if u64::try_from(bytes.len()).is_ok_and(|size| size > LARGEST) {
            return Err(SendError::TooLong);
        }
    }
    Ok(format!("base64://{}", STANDARD.encode(bytes)))
}
