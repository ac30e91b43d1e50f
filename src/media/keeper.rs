//! Files that people hand to an adapter itself.
//!
//! Owns what they are known by: the adapter gets a reference, under which a turn later finds the file as if it had
//! been fetched. A conversation that never spoke has no number yet; its files get it when it does.

use async_trait::async_trait;
use tokio::time::timeout;
use weirgate_sdk::{
    AttachmentKind, ConversationKey, Download, KeepError, Keeper, KeptFile, OutgoingFile,
};

use super::{Broken, Fault, MediaStore, source};
use crate::hex::hex;
use crate::telemetry::metrics;

#[async_trait]
impl Keeper for MediaStore {
    async fn keep(
        &self,
        conversation: &ConversationKey,
        name: Option<String>,
        file: Download,
    ) -> Result<KeptFile, KeepError> {
        let reference = hex(&rand::random::<[u8; 16]>());
        let kept = self.handed_in(conversation, &reference, name, file).await;
        metrics::media_file(match &kept {
            Ok(_) => "kept",
            Err(Fault::TooLarge(_)) => "too_large",
            Err(_) => "failed",
        });
        kept.map_err(|fault| match fault {
            Fault::TooLarge(most) => KeepError::TooLarge(most),
            Fault::OtherType(_) | Fault::NotGiven(_) | Fault::TooSlow(_) => {
                KeepError::Broken(fault.to_string())
            }
            Fault::NotKept(why) => KeepError::Away(why),
        })
    }

    fn limit(&self, kind: AttachmentKind) -> u64 {
        self.settings().max_size.of(kind)
    }

    async fn find(
        &self,
        conversation: &ConversationKey,
        reference: &str,
    ) -> Result<Option<KeptFile>, KeepError> {
        let found = self.kept(&source(conversation, reference)).await;
        let found = found.map_err(|error| KeepError::Away(error.to_string()))?;
        Ok(found.map(|row| KeptFile {
            reference: reference.to_owned(),
            kind: row.kind,
            name: row.name,
            size: row.size,
        }))
    }

    async fn sent(
        &self,
        conversation: &ConversationKey,
        reference: &str,
    ) -> Result<Option<OutgoingFile>, KeepError> {
        let found = self.given_out(conversation, reference).await;
        found.map_err(|fault| KeepError::Away(fault.to_string()))
    }
}

impl MediaStore {
    async fn handed_in(
        &self,
        conversation: &ConversationKey,
        reference: &str,
        name: Option<String>,
        file: Download,
    ) -> Result<KeptFile, Fault> {
        let settings = self.settings();
        // What it is shows when it is there.
        let most = settings.max_size.image.max(settings.max_size.file);
        let written = timeout(settings.timeout, self.write(file, most)).await;
        let received = match written {
            Ok(Ok(received)) => received,
            Ok(Err(Broken::Here(fault))) => return Err(fault),
            Ok(Err(Broken::Source(error))) => return Err(Fault::NotGiven(error.to_string())),
            Err(_) => return Err(Fault::TooSlow(settings.timeout)),
        };
        let most = settings.max_size.of(received.found.kind);
        if received.size > most {
            return Err(Fault::TooLarge(most));
        }
        let source = source(conversation, reference);
        let row = self.register(received, 0, source, name).await?;
        Ok(KeptFile {
            reference: reference.to_owned(),
            kind: row.kind,
            name: row.name,
            size: row.size,
        })
    }
}
