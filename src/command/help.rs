//! /help: lists the commands that somebody may use, in parts that are one message each, or says what one of them takes.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When, all,
    argument::{Kind, Takes, perhaps},
    find, need, public,
};
use crate::{
    i18n::{About, Language, Text, arguments::Label},
    permission::{Capability, Level, Scope, decide},
    reason::Reason,
    store::StoreError,
};

/// Characters that are shown of a name that is none.
const LONGEST_NAME: usize = 32;

/// /help
#[derive(Debug)]
pub struct Help;

static SPEC: Spec = Spec {
    name: "help",
    aliases: &["start"],
    about: About::Help,
    takes: Takes::These(&[perhaps(Kind::Word(&["admin", "owner"]), Label::Command)]),
    level: Level::Public,
    when: When::Now,
};

#[async_trait]
impl Command for Help {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let rules = desk.rules.get();
        let levels = &rules.settings.permissions.commands;
        // What the caller cannot use is of no help to him.
        let part_for_him = |command: &dyn Command| {
            let (capability, scope) = need(command, "", call.site, levels);
            let proof = decide(call.actor, capability, scope, desk.now()).ok()?;
            Some(Part::of(proof.capability(), proof.scope()))
        };
        let asked = call.arguments.trim_start_matches(['/', '／']);
        let asked = asked.to_ascii_lowercase();
        let lists = Part::ALL.map(|part| {
            let of_part = all().filter(|command| part_for_him(*command) == Some(part));
            of_part.map(Command::spec).collect::<Vec<&Spec>>()
        });
        let part = Part::ALL.iter().position(|part| part.is_called(&asked));
        if let Some(place) = part.filter(|place| !lists[*place].is_empty()) {
            let text = listed(Part::ALL[place], &lists, call.language);
            return Ok(Done::text(text));
        }
        let found = find(&asked).filter(|command| part_for_him(*command).is_some());
        Ok(match found {
            Some(command) => Done::text(explained(command.spec(), call.language)),
            None => {
                let name = asked.chars().take(LONGEST_NAME).collect();
                let text = Text::UnknownCommand(name);
                Done::refuse(Reason::UnknownCommand, &text, call.language)
            }
        })
    }
}

/// The parts of the list: each is short enough for one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What people use every day.
    Everyday,
    /// What is for those who moderate.
    Admin,
    /// What is for owners, of the conversation or the gateway.
    Owner,
}

impl Part {
    const ALL: [Self; 3] = [Self::Everyday, Self::Admin, Self::Owner];

    /// Where a command stands, by what it needs.
    fn of(capability: Capability, scope: Scope) -> Self {
        let of_owners = Capability::MANAGE_CONFIG | Capability::MANAGE_PERMISSION;
        if scope == Scope::Global || capability.intersects(of_owners) {
            Self::Owner
        } else if capability.contains(Capability::MANAGE_MEMBER) {
            Self::Admin
        } else {
            Self::Everyday
        }
    }

    /// Whether somebody asks for this part; whoever asks for nothing asks for the first.
    fn is_called(self, asked: &str) -> bool {
        match self {
            Self::Everyday => asked.is_empty(),
            Self::Admin => ["admin", "管理"].contains(&asked),
            Self::Owner => ["owner", "拥有者"].contains(&asked),
        }
    }
}

/// A part of the list, with what else can be asked for: `lists` has what the caller may use of each part.
fn listed(part: Part, lists: &[Vec<&Spec>; 3], language: Language) -> String {
    let [everyday, admin, owner] = lists;
    let (level, specs) = match part {
        Part::Everyday => (Level::Public, everyday),
        Part::Admin => (Level::Admin, admin),
        Part::Owner => (Level::Owner, owner),
    };
    let line = |spec: &&Spec| {
        let about = Text::About(spec.about).render(language);
        format!("/{} - {about}", spec.name)
    };
    let more = Text::HelpMore {
        admin: part == Part::Everyday && !admin.is_empty(),
        owner: part == Part::Everyday && !owner.is_empty(),
    };
    let head = Text::HelpHead(level).render(language);
    let lines = specs.iter().map(line);
    let all: Vec<String> = std::iter::once(head)
        .chain(lines)
        .chain([more.render(language)])
        .collect();
    all.join("\n")
}

/// A command with all of its names and what it takes.
fn explained(spec: &Spec, language: Language) -> String {
    let usage = spec.takes.usage(language);
    let about = Text::About(spec.about).render(language);
    let space = if usage.is_empty() { "" } else { " " };
    let also: String = spec
        .aliases
        .iter()
        .map(|name| format!(", /{name}"))
        .collect();
    let head = format!("/{}{also}{space}{usage} - {about}", spec.name);
    let rest = spec.takes.explained(language);
    std::iter::once(head)
        .chain(rest)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least that a platform takes in one message as agent.yaml is shipped, in characters.
    const ONE_MESSAGE: usize = 1_500;

    #[test]
    fn each_part_of_the_list_is_one_message() {
        let site = |chat| Site {
            chat,
            account: 1,
            conversation: 1,
            own_history: false,
        };
        for chat in [
            weirgate_sdk::ChatKind::Private,
            weirgate_sdk::ChatKind::Group,
        ] {
            let lists = Part::ALL.map(|part| {
                let is_of_part = |command: &&dyn Command| {
                    let (capability, scope) = command.needs("", site(chat));
                    Part::of(capability, scope) == part
                };
                all().filter(is_of_part).map(Command::spec).collect()
            });
            for (part, language) in Part::ALL
                .into_iter()
                .flat_map(|part| Language::ALL.map(|language| (part, language)))
            {
                let length = listed(part, &lists, language).chars().count();
                assert!(length <= ONE_MESSAGE, "{part:?} {language:?}: {length}");
            }
        }
    }

    #[test]
    fn no_command_has_the_name_of_a_part() {
        for part in ["admin", "owner", "管理", "拥有者"] {
            assert!(find(part).is_none(), "{part}");
        }
    }
}
