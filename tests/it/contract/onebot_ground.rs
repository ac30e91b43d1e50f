//! Groups of OneBot accounts in the contract suite: in which the bot is the owner, an admin, and a member.

use async_trait::async_trait;
use weirgate_sdk::ConversationKey;
use weirgate_testkit::contract::{Ground, Scene, moderation::said};

use super::{BOT, OneBot, Platform as _};

const GROUP: u64 = 30_001;
const ELSEWHERE: u64 = 30_002;
const OWNER: u64 = 40_001;
const ADMIN: u64 = 40_002;
const MEMBER: u64 = 40_003;
const LEFT: u64 = 40_004;
const STRANGER: u64 = 40_009;
const STANDINGS: [&str; 3] = ["owner", "admin", "member"];

#[async_trait]
impl<const WAY: u8> Ground for OneBot<WAY> {
    fn scenes(&self) -> usize {
        STANDINGS.len()
    }

    async fn set(&mut self, scene: usize) -> Scene {
        let own = STANDINGS[scene];
        let owner = if own == "owner" { "admin" } else { "owner" };
        let fake = self.fake();
        for (user, role) in [
            (BOT, Some(own)),
            (OWNER, Some(owner)),
            (ADMIN, Some("admin")),
            (MEMBER, Some("member")),
            (LEFT, None),
        ] {
            fake.member(GROUP, user, role);
        }
        fake.member(ELSEWHERE, BOT, Some("owner"));
        let place = ConversationKey {
            platform: "qq".into(),
            account: "main".into(),
            conversation: "g30001".into(),
            thread: None,
        };
        let mut messages: Vec<i64> = [OWNER, ADMIN, MEMBER, LEFT]
            .map(|user| fake.past(Some(GROUP), user, "hi", 5))
            .into();
        // Ids are good in all groups.
        messages.push(fake.past(Some(ELSEWHERE), MEMBER, "hi", 5));
        messages.push(fake.past(None, MEMBER, "hi", 5));
        messages.push(999_999);
        self.answers += 1;
        let own = said(&*self.adapter(), &place, self.answers).await;
        let ids = messages.iter().map(|id| id.to_string().into());
        let scene = Scene {
            place,
            member: MEMBER.to_string().into(),
            others: [OWNER, ADMIN, BOT, LEFT, STRANGER]
                .map(|user| user.to_string().into())
                .into_iter()
                .chain(["anonymous:7".into(), "telegram:1".into()])
                .collect(),
            messages: ids.chain([own.clone()]).collect(),
        };
        let own = own.as_str().parse().expect("a number");
        self.named = messages.into_iter().chain([own]).collect();
        scene
    }

    fn state(&self) -> String {
        let fake = self.fake();
        let people = [BOT, OWNER, ADMIN, MEMBER, LEFT, STRANGER];
        let people = people.map(|user| fake.standing(GROUP, user));
        let messages: Vec<bool> = self.named.iter().map(|id| fake.has_message(*id)).collect();
        format!("{people:?} {messages:?}")
    }
}
