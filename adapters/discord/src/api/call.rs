//! The calls that are made, and their places in the HTTP API.
//!
//! Owns methods, paths, and which calls share a limit.

use std::fmt;

use reqwest::Method;

use crate::places::Snowflake;

/// What an interaction is answered with. `Debug` leaves the token out: whoever has it can speak as the bot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hook<'a> {
    /// The bot's application.
    pub application: Snowflake,
    /// The interaction.
    pub interaction: Snowflake,
    /// Its token.
    pub token: &'a str,
}

impl fmt::Debug for Hook<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hook").field(&self.interaction).finish()
    }
}

/// What is done to a thing that has a place of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// It is read.
    Get,
    /// It is made, or another one takes its place.
    Put,
    /// A part of it is changed.
    Patch,
    /// It is taken away.
    Delete,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'a> {
    /// Who the bot is.
    Me,
    /// What its application may do.
    Application,
    /// Where events come from, and how many sessions may still be begun.
    Gateway,
    /// What a channel is.
    Channel(Snowflake),
    /// A thread is opened again.
    Reopen(Snowflake),
    /// So many messages of a channel after one of them, newest first.
    Messages {
        /// The channel.
        channel: Snowflake,
        /// The message.
        after: Snowflake,
        /// How many, 1 to 100.
        limit: u8,
    },
    /// A new message in a channel.
    Send(Snowflake),
    /// A message of a channel.
    Message(Verb, Snowflake, Snowflake),
    /// A sign that one is being written.
    Typing(Snowflake),
    /// The first answer to an interaction, within three seconds.
    Acknowledge(Hook<'a>),
    /// The first answer, once it was given.
    Answer(Verb, Hook<'a>),
    /// A further answer to an interaction.
    FollowUp(Hook<'a>),
    /// The application's menu of commands, everywhere or in one server.
    Commands(Verb, Snowflake, Option<Snowflake>),
    /// A server, with its roles.
    Server(Snowflake),
    /// A member of a server.
    Member(Verb, Snowflake, Snowflake),
    /// Up to a thousand members of a server after one of them.
    Members(Snowflake, Snowflake),
    /// Somebody who is kept out of a server.
    Ban(Verb, Snowflake, Snowflake),
}

impl Call<'_> {
    /// Its method.
    #[must_use]
    pub fn method(self) -> Method {
        match self {
            Self::Send(_) | Self::Typing(_) | Self::Acknowledge(_) | Self::FollowUp(_) => {
                Method::POST
            }
            Self::Message(verb, ..)
            | Self::Answer(verb, _)
            | Self::Commands(verb, ..)
            | Self::Member(verb, ..)
            | Self::Ban(verb, ..) => match verb {
                Verb::Get => Method::GET,
                Verb::Put => Method::PUT,
                Verb::Patch => Method::PATCH,
                Verb::Delete => Method::DELETE,
            },
            Self::Reopen(_) => Method::PATCH,
            _ => Method::GET,
        }
    }

    /// Neither counts against the limit of all calls nor waits for it (Rate Limits, Global Rate Limit).
    #[must_use]
    pub fn is_exempt(self) -> bool {
        matches!(
            self,
            Self::Acknowledge(_) | Self::Answer(..) | Self::FollowUp(_)
        )
    }

    /// Its path below the API, with what is asked for.
    #[must_use]
    pub fn path(self) -> String {
        match self {
            Self::Me => "/users/@me".to_owned(),
            Self::Application => "/applications/@me".to_owned(),
            Self::Gateway => "/gateway/bot".to_owned(),
            Self::Channel(channel) | Self::Reopen(channel) => format!("/channels/{channel}"),
            Self::Messages {
                channel,
                after,
                limit,
            } => format!("/channels/{channel}/messages?after={after}&limit={limit}"),
            Self::Send(channel) => format!("/channels/{channel}/messages"),
            Self::Message(_, channel, message) => format!("/channels/{channel}/messages/{message}"),
            Self::Typing(channel) => format!("/channels/{channel}/typing"),
            Self::Acknowledge(hook) => {
                format!("/interactions/{}/{}/callback", hook.interaction, hook.token)
            }
            Self::Answer(_, hook) => {
                let (application, token) = (hook.application, hook.token);
                format!("/webhooks/{application}/{token}/messages/@original")
            }
            Self::FollowUp(hook) => format!("/webhooks/{}/{}", hook.application, hook.token),
            Self::Commands(verb, application, server) => {
                let all = match verb {
                    Verb::Get => "?with_localizations=true",
                    _ => "",
                };
                match server {
                    Some(server) => {
                        format!("/applications/{application}/guilds/{server}/commands{all}")
                    }
                    None => format!("/applications/{application}/commands{all}"),
                }
            }
            Self::Server(server) => format!("/guilds/{server}"),
            Self::Member(_, server, user) => format!("/guilds/{server}/members/{user}"),
            Self::Members(server, after) => {
                format!("/guilds/{server}/members?limit=1000&after={after}")
            }
            Self::Ban(_, server, user) => format!("/guilds/{server}/bans/{user}"),
        }
    }

    /// What shares a limit with it: the kind of call, and the channel, server or interaction in which it is made.
    #[must_use]
    pub fn route(self) -> (u8, Snowflake) {
        match self {
            Self::Me => (0, 0),
            Self::Gateway => (1, 0),
            Self::Channel(channel) => (2, channel),
            Self::Messages { channel, .. } => (3, channel),
            Self::Send(channel) => (4, channel),
            Self::Typing(channel) => (5, channel),
            Self::Acknowledge(hook) => (6, hook.interaction),
            Self::Answer(_, hook) => (7, hook.interaction),
            Self::FollowUp(hook) => (8, hook.interaction),
            Self::Commands(Verb::Get, _, server) => (9, server.unwrap_or(0)),
            Self::Commands(_, _, server) => (10, server.unwrap_or(0)),
            Self::Application => (11, 0),
            // To take one away has a limit of its own.
            Self::Message(Verb::Delete, channel, _) => (12, channel),
            Self::Message(_, channel, _) => (13, channel),
            Self::Server(server) => (14, server),
            Self::Member(Verb::Get, server, _) => (15, server),
            Self::Member(_, server, _) => (16, server),
            Self::Members(server, _) => (17, server),
            Self::Ban(_, server, _) => (18, server),
            Self::Reopen(channel) => (19, channel),
        }
    }
}
