//! A guild, whose members a bot that is an admin may mute and remove (bot-docs, channel members and speaking).
//!
//! Owns the calls. Whom a guild keeps out, only people can let in again: there is no call for it.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Method;
use serde_json::{Value, json};
use weirgate_sdk::{ConversationKey, Member, ModerationError, PlatformRole};

use super::{Ask, Ground, MAX_PAGES};
use crate::official::{
    places::{Place, is_id},
    receive::role_of,
};

/// The longest time for which somebody can be kept quiet (reported; bot-docs name none).
const LONGEST_MUTE: Duration = Duration::from_secs(28 * 24 * 3_600);
/// The roles of the owner and of admins.
const ROLES: [(&str, PlatformRole); 2] = [("4", PlatformRole::Owner), ("2", PlatformRole::Admin)];
/// Members of one answer.
const PAGE: usize = 400;

pub(super) struct Guild<'a> {
    pub(super) ask: Ask<'a>,
    pub(super) id: String,
}

impl Guild<'_> {
    fn path(&self, user: &str) -> String {
        format!("/guilds/{}/members/{user}", self.id)
    }

    fn described(&self, user: &str, member: &Value, role: PlatformRole) -> Member {
        let nick = &member["nick"];
        let has_nick = nick.as_str().is_some_and(|nick| !nick.trim().is_empty());
        let name = if has_nick {
            nick
        } else {
            &member["user"]["username"]
        };
        self.ask.described(user, name, role)
    }

    async fn with_role(
        &self,
        (role, standing): (&str, PlatformRole),
        found: &mut Vec<Member>,
    ) -> Result<(), ModerationError> {
        let mut start = "0".to_owned();
        for _ in 0..MAX_PAGES {
            let path = format!(
                "/guilds/{}/roles/{role}/members?start_index={start}&limit={PAGE}",
                self.id
            );
            let page = self.ask.look(&path).await?;
            let members = page["data"].as_array().into_iter().flatten();
            for member in members {
                let user = member["user"]["id"].as_str().filter(|user| is_id(user));
                let Some(user) = user else { continue };
                if !found.iter().any(|known| known.user.id.as_str() == user) {
                    found.push(self.described(user, member, standing));
                }
            }
            match page["next"].as_str().filter(|next| is_id(next)) {
                Some(next) if next != "0" && next != start => next.clone_into(&mut start),
                _ => break,
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Ground for Guild<'_> {
    fn longest(&self) -> Duration {
        LONGEST_MUTE
    }

    async fn own(&self) -> Result<(String, PlatformRole), ModerationError> {
        let bot = self.ask.0.bot();
        let bot = bot.ok_or_else(|| ModerationError::Unavailable("not connected".into()))?;
        match self.member(&bot).await {
            Ok(own) => Ok((bot, own.role)),
            Err(ModerationError::NotAMember) => Err(ModerationError::BotLacksRight),
            Err(error) => Err(error),
        }
    }

    async fn member(&self, user: &str) -> Result<Member, ModerationError> {
        let member = self.ask.person(&self.path(user)).await?;
        Ok(self.described(user, &member, role_of(&member["roles"])))
    }

    async fn remove(&self, user: &str, for_good: bool) -> Result<(), ModerationError> {
        let said = json!({ "add_blacklist": for_good, "delete_history_msg_days": 0 });
        let path = self.path(user);
        self.ask.done(Method::DELETE, &path, Some(&said)).await?;
        Ok(())
    }

    async fn quiet(&self, user: &str, time: Option<Duration>) -> Result<(), ModerationError> {
        let seconds = time.map_or(0, |time| time.as_secs().max(1));
        let said = json!({ "mute_seconds": seconds.to_string() });
        let path = format!("{}/mute", self.path(user));
        self.ask.done(Method::PATCH, &path, Some(&said)).await?;
        Ok(())
    }

    async fn admins(&self) -> Result<Vec<Member>, ModerationError> {
        let mut found = Vec::new();
        for role in ROLES {
            self.with_role(role, &mut found).await?;
        }
        Ok(found)
    }

    fn key(&self) -> ConversationKey {
        self.ask.key(Place::Guild(&self.id))
    }
}
