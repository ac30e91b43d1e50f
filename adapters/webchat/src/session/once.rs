//! A client without a socket: one request of a known visitor, or a stream of what happens.
//!
//! It counts as no window of the visitor, so a request never closes one of his sockets.

use weirgate_sdk::settings::Secret;

use super::Session;
use crate::{
    incoming::{Hello, Line},
    texts::{Code, Language},
};

impl Session {
    /// Knows who asks. Without a conversation of the request's own the visitor's newest is meant.
    pub(crate) async fn visit(&mut self, hello: &Hello, named: Option<&str>) -> Result<(), Code> {
        self.language = hello.language;
        let visitor = self.chat.returning(hello)?;
        self.own = match named {
            Some(session) => session.to_owned(),
            None => self
                .newest(&visitor)
                .await
                .ok_or(Code::HistoryUnavailable)?,
        };
        self.visitor = Some(visitor);
        Ok(())
    }

    /// Does what one line asks for.
    pub(crate) async fn take(&mut self, line: Line) {
        self.line(Ok(line)).await;
    }

    /// Begins to listen to a conversation, from where the client stopped.
    pub(crate) async fn listen(
        &mut self,
        hello: Hello,
        session: Option<String>,
    ) -> Result<(), Code> {
        self.language = hello.language;
        self.chat.returning(&hello)?;
        self.hello(hello, session).await;
        Ok(())
    }

    /// Makes a new visitor and gives his token.
    pub(crate) fn welcome(&self, language: Language) -> Result<String, Code> {
        let hello = Hello {
            token: None,
            identity: None,
            resume: None,
            language,
            memory: false,
        };
        let (_, token) = self.chat.who(&hello)?;
        token.ok_or(Code::NoVisitor)
    }
}

/// A hello of whoever shows this: a token of the server, or an identity that the site has signed.
pub(crate) fn shown(credential: &str, language: Language) -> Hello {
    // A signed identity has parts; a token has none.
    let signed = credential.contains('.');
    let secret = Some(Secret::new(credential));
    let (token, identity) = if signed {
        (None, secret)
    } else {
        (secret, None)
    };
    Hello {
        token,
        identity,
        resume: None,
        language,
        memory: false,
    }
}
