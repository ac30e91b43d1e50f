//! The ways on which a command comes in, over every adapter: whoever may use it may on each of them, and nobody else.
//!
//! A role is found by the core from who somebody is; whatever a client or a path says of it counts nothing.

#![cfg(test)]

mod doors;

use async_trait::async_trait;
use doors::{Discord, Official, OneBot, Telegram, WebChat};

/// How something is said to the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    /// In a group, meant for the bot.
    Group,
    /// In a thread, topic or channel of it.
    Topic,
    /// With the bot's name behind the command.
    Named,
    /// As an answer to what the bot said.
    Reply,
    /// In private.
    Private,
    /// From the platform's own menu, in a group.
    Menu,
    /// From the platform's own menu, in private.
    PrivateMenu,
    /// A message that waits is edited into the command.
    Edited,
}

use Path::Edited;

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A member, as the platform says.
    Member,
    /// An admin of the group, as the platform says.
    Admin,
    /// An owner of the gateway, who is a member of the group.
    Owner,
}

/// A platform with the gateway behind it, in which nobody was given a role.
#[async_trait]
trait Door: Sized {
    /// The ways that lead through it, and for whom a command of admins is done on each: member, admin, owner.
    const PATHS: &'static [(Path, &'static str)];

    /// The gateway is connected.
    async fn start() -> Self;

    /// Somebody says this on a way; what is answered.
    async fn say(&self, path: Path, role: Role, text: &str) -> String;
}

/// A command of admins, what is answered where it is done, and where it is not.
const COMMAND: (&str, &str, &str) = (
    "/queue",
    "Nothing waits here.",
    "Only an admin may do that here.",
);

async fn each_way_asks_the_same_who_may<D: Door>() {
    let door = D::start().await;
    let (command, done, denied) = COMMAND;
    for (path, cells) in D::PATHS {
        for (role, cell) in [Role::Member, Role::Admin, Role::Owner]
            .into_iter()
            .zip(cells.chars())
        {
            let told = door.say(*path, role, command).await;
            let wanted = match (cell, path) {
                ('✓', _) => done,
                // What was journaled is asked: its words stand.
                (_, Edited) => "re: ",
                _ => denied,
            };
            assert!(told.starts_with(wanted), "{path:?} {role:?}: {told}");
            // What is for everybody is so on each way.
            if *path != Edited {
                let told = door.say(*path, role, "/ping there").await;
                assert_eq!(told, "there", "{path:?} {role:?}");
            }
        }
    }
}

#[tokio::test]
async fn each_way_of_a_personal_account_of_qq_asks_the_same_who_may() {
    each_way_asks_the_same_who_may::<OneBot>().await;
}

#[tokio::test]
async fn each_way_of_an_official_bot_of_qq_asks_the_same_who_may() {
    each_way_asks_the_same_who_may::<Official>().await;
}

#[tokio::test]
async fn each_way_of_telegram_asks_the_same_who_may() {
    each_way_asks_the_same_who_may::<Telegram>().await;
}

#[tokio::test]
async fn each_way_of_discord_asks_the_same_who_may() {
    each_way_asks_the_same_who_may::<Discord>().await;
}

#[tokio::test]
async fn each_way_of_the_web_chat_asks_the_same_who_may() {
    each_way_asks_the_same_who_may::<WebChat>().await;
}
