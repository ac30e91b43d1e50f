//! Members of the platform in memory: banned and muted ones, without any end of its own.
//!
//! Owns who is banned or muted, and what the next actions fail with.

use std::collections::{HashSet, VecDeque};

use async_trait::async_trait;
use parking_lot::Mutex;
use weirgate_sdk::{
    ConversationKey, PlatformRole, UserId, UserKey,
    moderation::{Action, BotRights, Member, Moderates, ModerationError},
};

use super::ScriptedAdapter;

/// What was done to members.
#[derive(Debug, Default)]
pub struct Bench {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Banned or muted, each as `ban:42`.
    out: HashSet<String>,
    failures: VecDeque<ModerationError>,
    acts: Vec<Action>,
}

fn mark(action: &Action) -> Option<(String, bool)> {
    match action {
        Action::Ban { user, .. } => Some((format!("ban:{}", user.as_str()), true)),
        Action::Unban { user } => Some((format!("ban:{}", user.as_str()), false)),
        Action::Mute { user, .. } => Some((format!("mute:{}", user.as_str()), true)),
        Action::Unmute { user } => Some((format!("mute:{}", user.as_str()), false)),
        Action::Kick { .. } | Action::Delete { .. } => None,
    }
}

impl Bench {
    /// What the next actions fail with, one each.
    pub fn fail(&self, errors: impl IntoIterator<Item = ModerationError>) {
        self.state.lock().failures.extend(errors);
    }

    /// Every action that was asked for, in order.
    #[must_use]
    pub fn acts(&self) -> Vec<Action> {
        self.state.lock().acts.clone()
    }
}

#[async_trait]
impl Moderates for ScriptedAdapter {
    async fn would(&self, _: &ConversationKey, _: &Action) -> Result<(), ModerationError> {
        let state = self.bench.state.lock();
        state.failures.front().cloned().map_or(Ok(()), Err)
    }

    async fn act(&self, _: &ConversationKey, action: &Action) -> Result<(), ModerationError> {
        let mut state = self.bench.state.lock();
        state.acts.push(action.clone());
        if let Some(error) = state.failures.pop_front() {
            return Err(error);
        }
        match mark(action) {
            Some((mark, true)) => drop(state.out.insert(mark)),
            Some((mark, false)) => drop(state.out.remove(&mark)),
            None => {}
        }
        Ok(())
    }

    fn ends(&self, _: &Action) -> bool {
        false
    }

    async fn is_done(
        &self,
        _: &ConversationKey,
        action: &Action,
    ) -> Result<Option<bool>, ModerationError> {
        let state = self.bench.state.lock();
        Ok(mark(action).map(|(mark, out)| state.out.contains(&mark) == out))
    }

    async fn member(&self, _: &ConversationKey, user: &UserId) -> Result<Member, ModerationError> {
        Ok(Member {
            user: UserKey {
                id: user.clone(),
                ..self.user("")
            },
            name: user.as_str().to_owned(),
            role: PlatformRole::Member,
            muted_until: None,
        })
    }

    async fn bot_rights(&self, _: &ConversationKey) -> Result<BotRights, ModerationError> {
        Ok(BotRights {
            role: PlatformRole::Admin,
            remove: true,
            mute: true,
            delete: true,
        })
    }

    async fn admins(&self, _: &ConversationKey) -> Result<Vec<Member>, ModerationError> {
        Ok(Vec::new())
    }
}
