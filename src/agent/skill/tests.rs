use std::fs;

use super::*;
use crate::permission::Capability;

fn skill(name: &str, tools: &[&str]) -> Arc<Skill> {
    Arc::new(Skill {
        name: name.to_owned(),
        description: format!("what {name} is for, {}", "and when it is used ".repeat(10)),
        tools: tools.iter().map(|&tool| tool.to_owned()).collect(),
        rights: Rights {
            capability: Capability::EXECUTE,
            global: false,
        },
        about: Vec::new(),
        body: Arc::from("body"),
        folder: None,
        steps: None,
    })
}

fn written(folder: &std::path::Path, name: &str, text: &str) {
    fs::create_dir_all(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("SKILL.md"), text).unwrap();
}

#[test]
fn broken_ones_are_left_out_with_their_reasons_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let good =
        |name: &str, more: &str| format!("---\nname: {name}\ndescription: d\n{more}---\nbody\n");
    written(folder.path(), "maps", &good("maps", ""));
    written(folder.path(), "charts", &good("maps", ""));
    written(
        folder.path(),
        "huge",
        &format!("{}{}", good("huge", ""), "x".repeat(200_000)),
    );
    written(folder.path(), "off", &good("off", ""));
    written(folder.path(), "calculate", &good("calculate", ""));
    written(
        folder.path(),
        "needy",
        &good("needy", "tools: [calculate, gone, away]\n"),
    );
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    let settings = config::Settings {
        disabled: ["off", "web-pages", "office-documents"]
            .map(str::to_owned)
            .to_vec(),
        ..config::Settings::default()
    };
    let guard = PathGuard::new::<&str>(&[]).unwrap();
    let skills = Skills::of(&settings, folder.path().to_owned(), guard);
    let sorted = skills.sorted(|tool| tool == "calculate");
    let usable: Vec<&str> = sorted
        .usable
        .iter()
        .map(|skill| skill.name.as_str())
        .collect();
    assert_eq!(usable, ["maps"]);
    let mut left_out = sorted.left_out.clone();
    left_out.sort_by(|one, other| one.name.cmp(&other.name));
    let names: Vec<&str> = left_out.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["calculate", "charts", "empty", "huge", "needy"]);
    assert_eq!(left_out[0].fault, Fault::Taken);
    assert_eq!(
        left_out[1].fault,
        Fault::OtherName {
            name: "maps".into()
        }
    );
    assert!(matches!(left_out[2].fault, Fault::Unreadable { .. }));
    assert!(matches!(left_out[3].fault, Fault::TooLarge { .. }));
    let missing = vec!["away".to_owned(), "gone".to_owned()];
    assert_eq!(left_out[4].fault, Fault::Missing { tools: missing });
    // A tool that comes makes it usable.
    let sorted = skills.sorted(|tool| ["calculate", "gone", "away"].contains(&tool));
    assert!(sorted.usable.iter().any(|skill| skill.name == "needy"));
}

#[test]
fn the_list_takes_no_more_room_than_it_has() {
    let skills: Vec<Arc<Skill>> = (0..20)
        .map(|n| skill(&format!("skill-{n:02}"), &[]))
        .collect();
    let named = skills
        .iter()
        .map(|skill| (skill.name.as_str(), skill.description.as_str()));
    let of = |tokens: usize| listing(named.clone(), MORE, tokens);
    assert!(of(5_000).contains("skill-19: what skill-19 is for") && !of(5_000).contains('…'));
    let short = of(900);
    assert!(
        short.contains("skill-19: what skill-19") && short.contains('…'),
        "{short}"
    );
    let names = of(40);
    assert!(
        names.starts_with("- skill-00\n") && names.ends_with("without a name)"),
        "{names}"
    );
    assert!(crate::agent::context::estimate_tokens(&names) <= 40);
    assert_eq!(of(3), "");
    assert_eq!(listing([].into_iter(), MORE, 100), "");
}
