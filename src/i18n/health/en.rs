//! English.

use weirgate_sdk::Finding;

use super::{Health, Here, Keep, Reach, Subject};
use crate::i18n::Language;

/// The name of a subject.
pub(super) fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Configuration => "configuration".into(),
        Subject::Folder => "data folder".into(),
        Subject::Gateway => "gateway".into(),
        Subject::Disk => "disk".into(),
        Subject::Clock => "clock".into(),
        Subject::Store => "database".into(),
        Subject::Http => "http".into(),
        Subject::Account(name) => format!("account {name}"),
        Subject::Model(name) => format!("model {name}"),
        Subject::Embed(name) => format!("embed {name}"),
        Subject::Redis => "redis".into(),
        Subject::Program(None) => "programs".into(),
        Subject::Program(Some(name)) => format!("program {name}"),
        Subject::Skill(None) => "skills".into(),
        Subject::Skill(Some(name)) => format!("skill {name}"),
        Subject::Agent(None) => "agents".into(),
        Subject::Agent(Some(name)) => format!("agent {name}"),
        Subject::Server(name) => format!("mcp {name}"),
        Subject::Agents(name) => format!("agents {name}"),
        Subject::Shell => "shell".into(),
    }
}

/// The text.
pub(super) fn render(health: &Health) -> String {
    match health {
        Health::Here(found) => here(found),
        Health::Keep(found) => keep(found),
        Health::Reach(found) => reach(found),
        Health::Skill(found) => found.render(Language::En),
    }
}

/// Files, folders, the process.
fn here(health: &Here) -> String {
    match health {
        Here::Configured { file, warnings: 0 } => file.clone(),
        Here::Configured { file, warnings } => {
            format!("{file}: {warnings} warnings; `weirgate check` shows them")
        }
        Here::Misconfigured { file, errors } => {
            format!("{file}: {errors} errors; `weirgate check` shows them")
        }
        Here::Folder { path } => path.display().to_string(),
        Here::NoFolder { path } => format!("{} is made by the first start", path.display()),
        Here::NoHome => "there is none, so that no files are kept and the tools cannot reach the \
                         gateway: set XDG_DATA_HOME or HOME"
            .into(),
        Here::Forbidden { path, error } => format!(
            "{} cannot be written ({error}): give it to this user (chown), or set storage.url (with \
             PostgreSQL the variable XDG_DATA_HOME) to another folder",
            path.display()
        ),
        Here::Open { path, mode } => format!(
            "{0} can be read by other users: chmod {mode} {0}",
            path.display()
        ),
        Here::Runs { process, version } => {
            format!("process {process}, version {version}, runs and answers")
        }
        Here::RunsOther { process, version } => format!(
            "process {process} is of version {version}, this is {}: restart it, or use its own tools",
            env!("CARGO_PKG_VERSION")
        ),
        Here::Rests => "does not run".into(),
        Here::Mute { error } => format!(
            "the data folder is in use and nobody answers ({error}): it starts or stops, or hangs; \
             look at its log"
        ),
        Here::Room { free } => format!("{free} MB free"),
        Here::LittleRoom { free } => {
            format!("only {free} MB free: make room, or keep less (storage.retention)")
        }
        Here::NoRoom { free } => format!(
            "{free} MB free: soon nothing can be accepted any more; make room, or keep less \
             (storage.retention)"
        ),
        Here::RoomUnknown { error } => format!("the free room is not known: {error}"),
        Here::Confines {
            version,
            root: false,
        } => format!("the kernel can confine it (Landlock {version})"),
        Here::Confines { version, .. } => format!(
            "the kernel can confine it (Landlock {version}), but the gateway is root, whose processes are not counted: give it a user of its own"
        ),
        Here::Unconfined(lacks) => {
            format!("is not run: {lacks}. Take a newer kernel, or see tools.shell.isolation")
        }
        Here::Programs { count } => format!("can be used: {count}"),
        Here::LeftOut { what } => format!("is left out: {what}"),
    }
}

/// The clock and the database.
fn keep(health: &Keep) -> String {
    match health {
        Keep::Clock => "agrees".into(),
        Keep::ClockAstray { now } => format!("it shows {now}: set it, or start a time service"),
        Keep::ClockJumps { millis } => {
            format!("it was set by {millis} ms just now: look at the time service")
        }
        Keep::ClockBehind { seconds } => format!(
            "it is {seconds} s behind the newest message in the database: set it, or start a time \
             service"
        ),
        Keep::ClockDiffers { provider, seconds } => {
            let (by, where_to) = (
                seconds.abs(),
                if *seconds > 0 { "ahead of" } else { "behind" },
            );
            format!("it is {by} s {where_to} that of {provider}: start a time service")
        }
        Keep::Store { size } => format!("whole, {size} MB"),
        Keep::NoStore => "is made by the first start".into(),
        Keep::Damaged { reason } => format!(
            "damaged ({reason}): stop the gateway, keep the file, and `weirgate restore` the last copy"
        ),
        Keep::Server { used: true } => "the server lets us in; a gateway has it in use".into(),
        Keep::Server { used: false } => "the server lets us in; no gateway has it in use".into(),
        Keep::StoreUnchecked => {
            "too large to be looked at in this time: check a copy (`weirgate backup`)".into()
        }
        Keep::StoreFailed { error } => format!("it cannot be looked at: {error}"),
    }
}

/// Addresses, accounts, providers.
fn reach(health: &Reach) -> String {
    match health {
        Reach::Found { finding, runs } => found(finding, *runs),
        Reach::Nothing => "nothing to check before it runs".into(),
        Reach::TooLong => "no answer in time".into(),
        Reach::Unusable { error } => error.clone(),
        Reach::Tools { tools, left_out: 0 } => format!("tools: {tools}"),
        Reach::Tools { tools, left_out } => {
            format!("tools: {tools}; {left_out} are left out, the log says why")
        }
        Reach::Agents {
            agents,
            left_out: 0,
        } => format!("agents: {agents}"),
        Reach::Agents { agents, left_out } => {
            format!("agents: {agents}; {left_out} are left out, the log says why")
        }
        Reach::Demo => "the demonstration, which needs no network".into(),
        Reach::Answers { millis } => format!("answers, after {millis} ms"),
        Reach::NotAsked => "not asked (--offline)".into(),
        Reach::KeyRefused { error } => {
            format!("the key is not accepted ({error}): check api_key and its account")
        }
        Reach::ModelUnknown { error } => {
            format!("not known there ({error}): check the model's name and base_url")
        }
        Reach::RateLimited { error } => {
            format!("takes no requests just now ({error}): wait, or check the account's limits")
        }
        Reach::Unreachable { error } => {
            format!("cannot be reached ({error}): check base_url, network and proxy")
        }
        Reach::MemoryAway { error } => format!(
            "does not serve the memory ({error}): check memory.redis and the server; until then turns \
             go on without what was remembered"
        ),
        Reach::ProviderFailed { error } => format!("failed: {error}"),
    }
}

fn found(finding: &Finding, runs: bool) -> String {
    match finding {
        Finding::CanListen(address) => format!("{address} is free"),
        Finding::InUse(address) if runs => format!("{address} is in use by the running gateway"),
        Finding::InUse(address) => {
            format!("{address} is in use by another program: stop that one, or listen elsewhere")
        }
        Finding::CannotListen { address, error } => {
            format!("cannot listen on {address} ({error}): choose an address of this machine")
        }
        Finding::NoToken(address) => {
            format!("whoever reaches {address} is believed: set a token on both sides")
        }
        Finding::Reached {
            address,
            bot,
            online: true,
        } => format!("{address} answers for the bot {bot}"),
        Finding::Reached { address, bot, .. } => {
            format!("{address} answers, but the bot {bot} is not logged in there: log in again")
        }
        Finding::TokenRefused { address } => {
            format!("{address} does not take the token: set the same on both sides")
        }
        Finding::NotReached { address, error } => {
            format!(
                "{address} is not what it should be ({error}): look at the address and the other side"
            )
        }
        Finding::NotGranted { what, key } => {
            format!("the platform does not give the bot \"{what}\": switch it on there, or set {key}: false")
        }
        Finding::HearsOnlyItself => {
            "in groups it hears only mentions, replies and commands; wake words need its privacy mode off".into()
        }
        Finding::PostedElsewhere(host) => {
            format!("its events are posted to {host}; the gateway will take them over when it runs")
        }
        Finding::NotPosted(error) => {
            format!("its events could not be posted to the gateway ({error}): check http.public_url")
        }
        Finding::NoPublicUrl => {
            "the platform must know how to reach the gateway: set http.public_url".into()
        }
    }
}
