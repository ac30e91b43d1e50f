//! Whom a command means, and what becomes of it: one table for every platform with moderation.

#![cfg(test)]

mod stages;

use async_trait::async_trait;
use stages::{Discord, OneBot, Telegram};

/// The people of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// Owns the group.
    Boss,
    /// An admin, who commands.
    Chief,
    /// A member of this name.
    Bob,
    /// One of two members who call themselves Twin.
    Ann,
    /// The other.
    Eve,
    /// Said something and left. His name is Gil.
    Gone,
    /// The bot.
    Bot,
}

impl Who {
    /// How he calls himself.
    fn name(self) -> &'static str {
        match self {
            Self::Boss => "Boss",
            Self::Chief => "Chief",
            Self::Bob => "Bob",
            Self::Ann | Self::Eve => "Twin",
            Self::Gone => "Gil",
            Self::Bot => "Weir",
        }
    }
}

use Who::{Ann, Bob, Boss, Bot, Chief, Eve, Gone};

/// How somebody is pointed at.
#[derive(Debug, Clone, Copy)]
enum Whom {
    /// A mention.
    Mention(Who),
    /// A mention that shows nothing.
    Nameless(Who),
    /// A mention that shows something else than its bearer's name.
    Posing(Who, &'static str),
    /// What a mention looks like in the platform's own code, written by hand.
    Code(Who),
    /// An answer to a message.
    Answer(Who),
    /// An id.
    Id(Who),
    /// Words.
    Written(&'static str),
}

use Whom::{Answer, Code, Id, Mention, Nameless, Posing, Written};

/// A group of a platform that the gateway is in, with an account that may moderate.
#[async_trait]
trait Stage: Sized {
    /// The group, in which nobody has said anything.
    async fn start() -> Self;

    /// Somebody's id.
    fn id(&self, who: Who) -> String;

    /// Somebody says something to the others, under this name.
    async fn says(&self, who: Who, name: &str);

    /// Somebody leaves.
    async fn leaves(&self, who: Who);

    /// Says `/mute WHOM 5m` as the admin; what is answered.
    async fn mute(&self, whom: Whom) -> String;

    /// Says something to the bot as the admin; what is answered.
    async fn command(&self, text: &str) -> String;

    /// Whether the platform keeps somebody from writing.
    fn is_muted(&self, who: Who) -> bool;
}

const NOBODY: &str = "Who is meant?";
const NOT_HERE: &str = "nobody of that id is here";
const TOO_HIGH: &str = "does not stand below you";

/// What is answered where nobody is muted.
const REFUSED: [(Whom, &[&str]); 18] = [
    // Code that no platform made of a mention is a text.
    (Code(Ann), &[NOBODY]),
    // A name of nobody, one of two, and one that is not marked as such.
    (Written("@Zoe"), &[NOBODY]),
    (Written("@Twin"), &["Several people have that name"]),
    (Written("Bob"), &[NOBODY]),
    // The id of another platform, and one with its platform in front.
    (Written("175928847299117063"), &[NOT_HERE]),
    (Written("telegram:20003"), &[NOBODY]),
    (Written("discord:70003"), &[NOBODY]),
    // Who left is known and not here.
    (Mention(Gone), &[NOT_HERE]),
    (Answer(Gone), &[NOT_HERE]),
    (Id(Gone), &[NOT_HERE]),
    (Written("@Gil"), &[NOT_HERE]),
    // Rank, whatever points at it.
    (Mention(Boss), &[TOO_HIGH]),
    (Answer(Boss), &[TOO_HIGH]),
    (Id(Boss), &[TOO_HIGH]),
    (Mention(Chief), &["that would be yourself"]),
    (Id(Chief), &["that would be yourself"]),
    // The bot is an admin like the caller, or says that it is meant.
    (Mention(Bot), &[TOO_HIGH, "that is me"]),
    (Id(Bot), &[TOO_HIGH, "that is me"]),
];

/// What means a member: by his id, whatever is shown; by a name that is his alone.
const MEANT: [(Whom, Who); 8] = [
    (Mention(Bob), Bob),
    (Nameless(Bob), Bob),
    (Answer(Bob), Bob),
    (Id(Bob), Bob),
    (Written("@Bob"), Bob),
    (Posing(Bob, "Ann"), Bob),
    (Posing(Ann, "Bob"), Ann),
    (Mention(Eve), Eve),
];

async fn each_way_has_a_defined_answer<S: Stage>() {
    let stage = S::start().await;
    for who in [Boss, Bob, Ann, Eve, Gone] {
        stage.says(who, who.name()).await;
    }
    stage.leaves(Gone).await;
    for (whom, member) in MEANT {
        let told = stage.mute(whom).await;
        for who in [Bob, Ann, Eve, Boss] {
            assert_eq!(
                stage.is_muted(who),
                who == member,
                "{whom:?}, {who:?}: {told}"
            );
        }
        assert!(told.contains("is muted for 5m"), "{whom:?}: {told}");
        let told = stage
            .command(&format!("/unmute {}", stage.id(member)))
            .await;
        assert!(!stage.is_muted(member), "{told}");
    }
    for (whom, says) in REFUSED {
        let told = stage.mute(whom).await;
        assert!(
            says.iter().any(|says| told.contains(says)),
            "{whom:?}: {told}"
        );
        for who in [Bob, Ann, Eve, Gone, Boss] {
            assert!(!stage.is_muted(who), "{whom:?}, {who:?}: {told}");
        }
    }
    // Whoever takes somebody's name makes it mean nobody, and both are listed by id.
    stage.says(Eve, "bob").await;
    let told = stage.mute(Written("@Bob")).await;
    for who in [Bob, Eve] {
        let id = format!("(id:{})", stage.id(who));
        assert!(told.contains(&id), "{told}");
        assert!(!stage.is_muted(who), "{told}");
    }
}

#[tokio::test]
async fn each_way_has_a_defined_answer_in_qq() {
    each_way_has_a_defined_answer::<OneBot>().await;
}

#[tokio::test]
async fn each_way_has_a_defined_answer_in_telegram() {
    each_way_has_a_defined_answer::<Telegram>().await;
}

#[tokio::test]
async fn each_way_has_a_defined_answer_in_discord() {
    each_way_has_a_defined_answer::<Discord>().await;
}

/// A user name of Telegram is its bearer's, whatever others call themselves.
#[tokio::test]
async fn a_user_name_is_never_taken_for_the_name_that_somebody_shows() {
    let stage = Telegram::start().await;
    stage.says(Bob, "Bob").await;
    stage.says(Eve, "spammer").await;
    let told = stage.mute(Written("@spammer")).await;
    assert!(told.starts_with("I have not met @spammer yet"), "{told}");
    assert!(!stage.is_muted(Eve), "{told}");
    // Nothing else is done to who is called so, either.
    for command in [
        "/role @spammer guest",
        "/warn @spammer",
        "/queue drop @spammer",
    ] {
        let told = stage.command(command).await;
        assert!(
            told.starts_with("I have not met @spammer yet"),
            "{command}: {told}"
        );
    }
    stage.says_as(Bob, "Bob", Some("Spammer"));
    let told = stage.mute(Written("@spammer")).await;
    assert!(told.contains("spammer is muted for 5m"), "{told}");
    assert!(stage.is_muted(Bob) && !stage.is_muted(Eve), "{told}");
    // He gives it away: it is his who was told of with it last.
    let told = stage.command(&format!("/unmute {}", stage.id(Bob))).await;
    assert!(!stage.is_muted(Bob), "{told}");
    stage.says_as(Ann, "Ann", Some("spammer"));
    let told = stage.mute(Written("@spammer")).await;
    assert!(stage.is_muted(Ann) && !stage.is_muted(Bob), "{told}");
}
