//! A group, which the platform lets only some bots moderate (its documentation of 2026, as other programs quote it).
//!
//! Owns the calls. The bot has to be an admin of the group and chosen by the platform; of any other one the platform says
//! that it may not make the call.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp as Time;
use reqwest::Method;
use serde_json::{Value, json};
use weirgate_sdk::{ConversationKey, Member, ModerationError, PlatformRole, Timestamp};

use super::{Ask, Ground, MAX_PAGES, is_admin};
use crate::official::{
    bot::unix_time,
    places::{Place, is_id},
    receive::{role_named, time},
};

/// The longest time for which somebody can be kept quiet.
const LONGEST_MUTE: Duration = Duration::from_secs(30 * 24 * 3_600);

pub(super) struct Group<'a> {
    pub(super) ask: Ask<'a>,
    pub(super) id: &'a str,
}

impl Group<'_> {
    fn path(&self, call: &str) -> String {
        format!("/v2/groups/{}/{call}", self.id)
    }

    fn described(&self, user: &str, member: &Value) -> Member {
        let role = role_named(&member["member_role"]);
        self.ask.described(user, &member["username"], role)
    }

    /// Until when somebody is kept quiet, if the platform tells.
    async fn quiet_until(&self, user: &str) -> Option<Timestamp> {
        let rules = self.ask.look(&self.path("restrict_chat_setting")).await;
        let rules = rules.ok()?;
        let mut all = rules["members"].as_array()?.iter();
        let his = all.find(|member| member["member_openid"] == user)?;
        time(&his["mute_expire_at"]).filter(|until| *until > unix_time())
    }
}

#[async_trait]
impl Ground for Group<'_> {
    fn longest(&self) -> Duration {
        LONGEST_MUTE
    }

    async fn own(&self) -> Result<(String, PlatformRole), ModerationError> {
        let own = self.ask.look(&self.path("bot_state")).await?;
        let bot = own["member_openid"].as_str().unwrap_or_default();
        Ok((bot.to_owned(), role_named(&own["member_role"])))
    }

    async fn member(&self, user: &str) -> Result<Member, ModerationError> {
        let member = self
            .ask
            .person(&self.path(&format!("members/{user}")))
            .await?;
        Ok(Member {
            muted_until: self.quiet_until(user).await,
            ..self.described(user, &member)
        })
    }

    async fn remove(&self, user: &str, for_good: bool) -> Result<(), ModerationError> {
        let said = json!({ "member_openids": [user], "add_to_member_blacklist": for_good });
        let path = self.path("batch_remove_members");
        let done = self.ask.done(Method::POST, &path, Some(&said)).await?;
        let failed = done["add_to_member_blacklist_fail_openids"].as_array();
        let is_kept_out = !for_good || failed.is_none_or(Vec::is_empty);
        match done["remove_members_result"].as_str() {
            Some("success") if is_kept_out => Ok(()),
            Some("success") => Err(ModerationError::NotConfirmed(
                "removed, but not kept out".into(),
            )),
            _ => Err(ModerationError::Rejected("the member stays".into())),
        }
    }

    async fn quiet(&self, user: &str, time: Option<Duration>) -> Result<(), ModerationError> {
        let now = unix_time() / 1_000;
        // A time that is over lets him write again.
        let until = match time {
            Some(time) => now.saturating_add(i64::try_from(time.as_secs()).unwrap_or(i64::MAX)),
            None => now - 60,
        };
        let until = Time::from_second(until)
            .map_err(|_| ModerationError::TooLong { most: LONGEST_MUTE })?;
        let said = json!({ "members": [{
            "op": "add", "member_openid": user, "mute_expire_at": until.to_string(),
        }]});
        let path = self.path("restrict_chat_setting");
        self.ask.done(Method::POST, &path, Some(&said)).await?;
        Ok(())
    }

    async fn admins(&self) -> Result<Vec<Member>, ModerationError> {
        let (mut admins, mut cursor) = (Vec::new(), String::new());
        for _ in 0..MAX_PAGES {
            let page = self
                .ask
                .look(&self.path(&format!("members?cursor={cursor}")))
                .await?;
            for member in page["members"].as_array().into_iter().flatten() {
                let user = member["member_openid"].as_str().filter(|user| is_id(user));
                let Some(user) = user else { continue };
                let member = self.described(user, member);
                if is_admin(member.role) {
                    admins.push(member);
                }
            }
            match page["next_cursor"].as_str().filter(|next| is_id(next)) {
                Some(next) if next != cursor => next.clone_into(&mut cursor),
                _ => break,
            }
        }
        Ok(admins)
    }

    fn key(&self) -> ConversationKey {
        self.ask.key(Place::Group(self.id))
    }
}
