//! Checks of moderation: what is foretold is what comes of it.
//!
//! Owns what every adapter promises that moderates ([`Ground`] is what its platform brings). Where an adapter does not
//! moderate, the first check sees that its platform has no ground, and the others have nothing to see.

use std::time::Duration;

use async_trait::async_trait;
use weirgate_sdk::{
    Adapter, ConversationKey, MessageId, Outgoing, UserId,
    moderation::{Action, Moderates, ModerationError},
};

use super::{Platform, connected, end, paragraph};

const HOUR: Duration = Duration::from_secs(3_600);
/// Longer than any platform keeps anybody quiet.
const LONG: Duration = Duration::from_secs(400 * 24 * 3_600);

/// A group with people of every standing.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The group.
    pub place: ConversationKey,
    /// An ordinary member.
    pub member: UserId,
    /// The others: owner, admins, who stands above the bot, the bot itself, who left, who never came, ids that are none.
    pub others: Vec<UserId>,
    /// Messages that can be named there: of the bot, of people, gone ones, ones of another place.
    pub messages: Vec<MessageId>,
}

/// What a platform with moderation brings beside the rest.
#[async_trait]
pub trait Ground: Send {
    /// How many scenes there are: places that are moderated in different ways, in each of which the bot may do more or
    /// less.
    fn scenes(&self) -> usize;

    /// Sets a scene: whatever was done to people before is undone.
    async fn set(&mut self, scene: usize) -> Scene;

    /// What the platform has of all these people and messages, to be compared.
    fn state(&self) -> String;
}

/// Whoever moderates has a ground, and nobody else.
pub async fn moderation_is_offered_as_promised<P: Platform>() {
    let mut platform = connected::<P>().await;
    let moderates = platform.adapter().moderates().is_some();
    assert_eq!(moderates, platform.ground().is_some());
    end(platform).await;
}

/// A dry run changes nothing and says what the act then comes to, for everybody, whatever the bot may.
pub async fn a_dry_run_says_what_comes_of_it<P: Platform>() {
    let mut platform = connected::<P>().await;
    let adapter = platform.adapter();
    let (Some(moderates), Some(ground)) = (adapter.moderates(), platform.ground()) else {
        return end(platform).await;
    };
    let (mut done, mut refused) = (0, 0);
    for number in 0..ground.scenes() {
        let people = everybody(ground.set(number).await);
        for user in people {
            for action in to(&user) {
                let scene = ground.set(number).await;
                match foretold(moderates, ground, &scene, &action).await {
                    Ok(()) => done += 1,
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(done > 0 && refused > 0, "{done} done, {refused} refused");
    end(platform).await;
}

/// What is known of a message before is what comes of deleting it. The rest only the act meets.
pub async fn a_refusal_to_delete_is_the_acts_own<P: Platform>() {
    let mut platform = connected::<P>().await;
    let adapter = platform.adapter();
    let (Some(moderates), Some(ground)) = (adapter.moderates(), platform.ground()) else {
        return end(platform).await;
    };
    let mut done = 0;
    for number in 0..ground.scenes() {
        let messages = ground.set(number).await.messages.len();
        for message in 0..messages {
            let scene = ground.set(number).await;
            let action = Action::Delete {
                message: scene.messages[message].clone(),
            };
            let before = ground.state();
            let would = moderates.would(&scene.place, &action).await;
            assert_eq!(ground.state(), before, "{action:?} was only tried out");
            let outcome = moderates.act(&scene.place, &action).await;
            if would.is_err() {
                assert_eq!(outcome, would, "scene {number}: {action:?}");
            }
            let unchanged = ground.state() == before;
            assert_eq!(outcome.is_err(), unchanged, "scene {number}: {action:?}");
            done += usize::from(outcome.is_ok());
        }
    }
    assert!(done > 0, "nothing could be deleted");
    end(platform).await;
}

/// What the bot says that it may is what it may.
pub async fn the_bot_knows_its_rights<P: Platform>() {
    let mut platform = connected::<P>().await;
    let adapter = platform.adapter();
    let (Some(moderates), Some(ground)) = (adapter.moderates(), platform.ground()) else {
        return end(platform).await;
    };
    for number in 0..ground.scenes() {
        let Scene { place, member, .. } = ground.set(number).await;
        let rights = moderates.bot_rights(&place).await.expect("known");
        let kick = Action::Kick {
            user: member.clone(),
        };
        let mute = Action::Mute {
            user: member,
            time: Some(HOUR),
        };
        for (may, action) in [(rights.remove, kick), (rights.mute, mute)] {
            let would = moderates.would(&place, &action).await;
            let expected = if may {
                Ok(())
            } else {
                Err(ModerationError::BotLacksRight)
            };
            assert_eq!(would, expected, "scene {number}: {action:?}, {rights:?}");
        }
    }
    end(platform).await;
}

/// Lets the bot say something; gives the platform's id of it. `number` is the answer's.
///
/// # Panics
/// If it is not sent, or has no id.
pub async fn said(adapter: &dyn Adapter, place: &ConversationKey, number: i64) -> MessageId {
    let outgoing = Outgoing {
        id: number,
        part: 0,
        parts: 1,
        conversation: place.clone(),
        turn: None,
        answers: Vec::new(),
        rendered: adapter.render().render(&paragraph("said by the bot")),
        reply: None,
        reply_context: None,
        buttons: Vec::new(),
        files: Vec::new(),
        private: false,
    };
    let sent = adapter.send(outgoing).await.expect("sent");
    sent.message.expect("a message has an id")
}

fn everybody(scene: Scene) -> Vec<UserId> {
    let mut people = scene.others;
    people.push(scene.member);
    people
}

/// Everything that can be done to somebody.
fn to(user: &UserId) -> Vec<Action> {
    let user = || user.clone();
    let mut actions = vec![
        Action::Kick { user: user() },
        Action::Unban { user: user() },
        Action::Unmute { user: user() },
    ];
    for time in [None, Some(HOUR), Some(LONG)] {
        actions.push(Action::Ban { user: user(), time });
        actions.push(Action::Mute { user: user(), time });
    }
    actions
}

/// Tries an action out, does it, and compares.
async fn foretold(
    moderates: &dyn Moderates,
    ground: &dyn Ground,
    scene: &Scene,
    action: &Action,
) -> Result<(), ModerationError> {
    let before = ground.state();
    let would = moderates.would(&scene.place, action).await;
    assert_eq!(ground.state(), before, "{action:?} was only tried out");
    let outcome = moderates.act(&scene.place, action).await;
    assert_eq!(would, outcome, "{action:?} in {}", scene.place.encode());
    if outcome.is_err() {
        assert_eq!(ground.state(), before, "{action:?} was refused");
    }
    outcome
}
