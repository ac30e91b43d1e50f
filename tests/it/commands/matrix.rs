//! Who may what, as one table: every command, message and tool, for each role, in a group and in private.

use serde_json::{Value, json};
use weirgate::command;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::{self, FakeOneBot, Reply},
};

use crate::gateway::{Chat as _, Gateway, person, rows};

const GROUP: u64 = 50;
/// Everybody is somebody else, so that nobody is told less for having been told before.
const FIRST: u64 = 200_000;
/// The owners of the gateway come from here.
const OWNERS: std::ops::Range<u64> = 100_000..100_400;
/// What is said to whoever may not.
const NO: [&str; 7] = [
    "Only an owner of the gateway may do that.",
    "Only an owner may do that here.",
    "Only an owner may change that here.",
    "Only an admin may do that here.",
    "That needs a member's rights.",
    "You may not send pictures, voice or files here.",
    "You are not answered here.",
];

/// The columns of a group.
const HERE: [Column; 6] = [
    Column {
        owner: true,
        platform: "member",
        default: "guest",
    },
    Column {
        owner: false,
        platform: "owner",
        default: "guest",
    },
    Column {
        owner: false,
        platform: "admin",
        default: "guest",
    },
    Column {
        owner: false,
        platform: "member",
        default: "member",
    },
    Column {
        owner: false,
        platform: "member",
        default: "guest",
    },
    Column {
        owner: false,
        platform: "member",
        default: "blocked",
    },
];

/// Somebody in a group: whether he owns the gateway, what the platform says of him, and what whoever has no role there is.
#[derive(Clone, Copy)]
struct Column {
    owner: bool,
    platform: &'static str,
    default: &'static str,
}

impl Column {
    /// A group for each default.
    fn group(self) -> u64 {
        let defaults = ["member", "guest", "blocked"];
        let place = defaults.iter().position(|role| *role == self.default);
        GROUP + u64::try_from(place.expect("one of them")).unwrap()
    }
}

/// What is called, and for whom it is done: in a group an owner of the gateway, the owner, an admin, a member, a guest, one
/// who is blocked; in private an owner of the gateway, a member, a guest, one who is blocked.
const COMMANDS: [(&str, &str, &str); 74] = [
    ("/help", "✓✓✓✓✓·", "✓✓✓·"),
    ("/ping", "✓✓✓✓✓·", "✓✓✓·"),
    ("/status", "✓✓✓✓✓·", "✓✓✓·"),
    ("/whoami", "✓✓✓✓✓·", "✓✓✓·"),
    ("/lang en", "✓✓✓✓✓·", "✓✓✓·"),
    ("/why", "✓✓✓✓✓·", "✓✓✓·"),
    ("/stop", "✓✓✓✓✓·", "✓✓✓·"),
    ("/cancel", "✓✓✓✓✓·", "✓✓✓·"),
    ("/forget 1", "✓✓✓✓✓·", "✓✓✓·"),
    ("/approve", "✓✓✓✓✓·", "✓✓✓·"),
    ("/deny XXXX", "✓✓✓✓✓·", "✓✓✓·"),
    ("/answer XXXX yes", "✓✓✓✓✓·", "✓✓✓·"),
    ("/claim XXXX", "✓✓✓✓✓·", "✓✓✓·"),
    // Members.
    ("/output full", "✓✓✓✓··", "✓✓··"),
    ("/log", "✓✓✓✓··", "✓✓··"),
    ("/search x", "✓✓✓✓··", "✓✓··"),
    ("/weather x", "✓✓✓✓··", "✓✓··"),
    ("/translate en x", "✓✓✓✓··", "✓✓··"),
    ("/remind", "✓✓✓✓··", "✓✓··"),
    ("/model", "✓✓✓✓··", "✓✓··"),
    ("/persona", "✓✓✓✓··", "✓✓··"),
    ("/skill", "✓✓✓✓··", "✓✓··"),
    ("/run nothing", "✓✓✓✓··", "✓✓··"),
    ("/memory", "✓✓✓✓··", "✓✓··"),
    ("/memory find x", "✓✓✓✓··", "✓✓··"),
    ("/config", "✓✓✓✓··", "✓✓··"),
    ("/config my.output", "✓✓✓✓··", "✓✓··"),
    ("/config my.output full", "✓✓✓✓··", "✓✓··"),
    // What all share in a group is one's own in private.
    ("/reset", "✓✓✓···", "✓✓··"),
    ("/model default", "✓✓✓···", "✓✓··"),
    ("/persona default", "✓✓✓···", "✓✓··"),
    ("/memory add x", "✓✓✓···", "✓✓··"),
    ("/memory rule a x", "✓✓✓···", "✓✓··"),
    ("/forget all", "✓✓✓···", "✓✓✓·"),
    ("/config output", "✓✓✓···", "✓✓··"),
    ("/config output full", "✓✓✓···", "✓✓··"),
    ("/config addressing mention", "✓✓✓···", "✓✓··"),
    ("/delete", "✓✓····", "✓✓··"),
    // Admins.
    ("/stop all", "✓✓✓···", "✓···"),
    ("/kick 300001", "✓✓✓···", "✓···"),
    ("/ban 300001", "✓✓✓···", "✓···"),
    ("/unban 300001", "✓✓✓···", "✓···"),
    ("/mute 300001", "✓✓✓···", "✓···"),
    ("/unmute 300001", "✓✓✓···", "✓···"),
    ("/warn 300001", "✓✓✓···", "✓···"),
    ("/warnings 300001", "✓✓✓···", "✓···"),
    ("/role", "✓✓✓···", "✓···"),
    ("/role 300001 guest", "✓✓✓···", "✓···"),
    ("/queue", "✓✓✓···", "✓···"),
    ("/queue drop 300001", "✓✓✓···", "✓···"),
    ("/policy", "✓✓✓···", "✓···"),
    ("/policy four_eyes", "✓✓✓···", "✓···"),
    ("/policy allow_media on", "✓✓✓···", "✓···"),
    ("/config allow_media on", "✓✓✓···", "✓···"),
    ("/config max_message_length none", "✓✓✓···", "✓···"),
    // The log of a group, and in private that of the gateway.
    ("/audit", "✓✓✓···", "✓···"),
    // Owners of the conversation.
    ("/policy four_eyes off", "✓✓····", "✓···"),
    ("/policy whitelist none", "✓✓····", "✓···"),
    ("/config four_eyes off", "✓✓····", "✓···"),
    ("/transfer 300001", "✓✓····", "✓···"),
    ("/leave", "✓✓····", "✓···"),
    // Owners of the gateway: nobody is one by what he is in a conversation.
    ("/backup", "✓·····", "✓···"),
    ("/reload", "✓·····", "✓···"),
    ("/broadcast hello", "✓·····", "✓···"),
    ("/mcp", "✓·····", "✓···"),
    ("/pair", "✓·····", "✓···"),
    ("/block", "✓·····", "✓···"),
    ("/block 300001", "✓·····", "✓···"),
    ("/unblock 300001", "✓·····", "✓···"),
    ("/memory global x", "✓·····", "✓···"),
    ("/config context.system_prompt", "✓·····", "✓···"),
    ("/config context.system_prompt You help.", "✓·····", "✓···"),
    ("/config reset context.system_prompt", "✓·····", "✓···"),
    ("/config gateway.language en", "✓·····", "✓···"),
];

fn marks(cells: &str) -> Vec<bool> {
    cells.chars().map(|mark| mark == '✓').collect()
}

/// A gateway with owners, in which this is the role of whoever has no other.
async fn start(default_role: &str) -> (FakeModel, Gateway, FakeOneBot) {
    let owners: Vec<String> = OWNERS.map(|id| id.to_string()).collect();
    let changes = json!({ "permissions": {
        "owners": { "qq": owners }, "default_role": default_role,
    } });
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

/// The numbers of people whom nobody has met.
struct People(u64, u64);

impl People {
    fn new() -> Self {
        Self(OWNERS.start, FIRST)
    }

    fn next(&mut self, owner: bool) -> u64 {
        let next = if owner { &mut self.0 } else { &mut self.1 };
        *next += 1;
        *next
    }
}

/// What is answered first to somebody's message; an answer before may have had several parts.
async fn first_to(fake: &FakeOneBot, is_his: impl Fn(&Reply) -> bool) -> String {
    loop {
        let reply = fake.answer().await;
        if is_his(&reply) {
            return reply.text();
        }
    }
}

/// Somebody says something in the group of his column, and is answered.
async fn said(fake: &FakeOneBot, column: Column, user: u64, segments: &[Value]) -> String {
    let group = column.group();
    let id = fake
        .group_segments(column.platform, group, user, segments)
        .await;
    let quotes = |reply: &Reply| reply.quotes().map(|quoted| quoted.to_string());
    first_to(fake, |reply| {
        quotes(reply).is_some_and(|quoted| quoted.trim_matches('"') == id.to_string())
    })
    .await
}

/// Somebody says something in private, and is answered.
pub(super) async fn asked(fake: &FakeOneBot, user: u64, text: &str) -> String {
    fake.send_private(user, text).await;
    first_to(fake, |reply| person(reply) == user.to_string()).await
}

/// The groups of the columns.
async fn groups(fake: &FakeOneBot) {
    for column in HERE {
        let default = format!("/policy default_role {}", column.default);
        let told = fake.ask_as("owner", column.group(), 9, &default).await;
        assert!(told.contains("is now"), "{told}");
    }
}

#[test]
fn the_table_has_every_command() {
    let mut named: Vec<&str> = COMMANDS
        .iter()
        .filter_map(|(call, ..)| call.trim_start_matches('/').split(' ').next())
        .collect();
    named.dedup();
    for name in command::names() {
        assert!(named.contains(&name), "/{name} is missing");
    }
}

#[tokio::test]
async fn a_group_has_the_matrix_of_commands() {
    let (_model, mut gateway, fake) = start("member").await;
    let mut people = People::new();
    groups(&fake).await;
    let mut refused = 0;
    let mut wrong = Vec::new();
    for (call, here, _) in COMMANDS {
        for (column, may) in HERE.into_iter().zip(marks(here)) {
            let user = people.next(column.owner);
            let told = said(&fake, column, user, &[onebot::text(call)]).await;
            if NO.contains(&told.as_str()) == may {
                wrong.push(format!(
                    "{call} by {} {}: {told}",
                    column.platform, column.default
                ));
            }
            refused += usize::from(!may);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    gateway.term().await;
    let denied = "SELECT id FROM audit WHERE event = 'command_blocked'";
    assert_eq!(rows(&gateway.database(), denied).len(), refused);
}

#[tokio::test]
async fn a_private_chat_has_the_matrix_of_commands() {
    let columns = [
        (true, "guest"),
        (false, "member"),
        (false, "guest"),
        (false, "blocked"),
    ];
    let mut wrong = Vec::new();
    for default in ["member", "guest", "blocked"] {
        let (_model, _gateway, fake) = start(default).await;
        let mut people = People::new();
        for (call, _, private) in COMMANDS {
            for ((owner, of), may) in columns.into_iter().zip(marks(private)) {
                if of != default {
                    continue;
                }
                let told = asked(&fake, people.next(owner), call).await;
                if NO.contains(&told.as_str()) == may {
                    wrong.push(format!("{call} by {of}: {told}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What the model was told of its calls, newest first.
fn result(model: &FakeModel) -> String {
    let request = model.requests().pop().expect("a request");
    request.results().pop().expect("a result")
}

#[tokio::test]
async fn messages_pictures_and_tools_are_for_whom_the_matrix_says() {
    let (model, _gateway, fake) = start("member").await;
    let mut people = People::new();
    groups(&fake).await;
    let picture = json!({ "type": "image", "data": { "file": "a.jpg" } });
    let write = json!({ "path": "a.txt", "content": "x" });
    let hello = [onebot::text("hello")];
    let [text, media, looks, writes] = ["✓✓✓✓✓·", "✓✓✓✓··", "✓✓✓✓··", "✓✓✓···"].map(marks);
    for (place, column) in HERE.into_iter().enumerate() {
        let mut say = async |segments: &[Value]| {
            let user = people.next(column.owner);
            said(&fake, column, user, segments).await
        };
        let told = say(&hello).await;
        assert_eq!(told.contains("hello"), text[place], "{place}: {told}");
        let told = say(std::slice::from_ref(&picture)).await;
        assert_eq!(
            !NO.contains(&told.as_str()),
            media[place],
            "{place}: {told}"
        );
        if !text[place] {
            continue;
        }
        for (call, may) in [
            (("date_time", json!({})), looks[place]),
            (("write_file", write.clone()), writes[place]),
        ] {
            model.push(Script::calls(std::slice::from_ref(&call)));
            say(&hello).await;
            let result = result(&model);
            assert_eq!(
                !result.contains("may not use"),
                may,
                "{place} {}: {result}",
                call.0
            );
        }
    }
}
