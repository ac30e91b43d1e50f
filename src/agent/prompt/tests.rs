use std::fs;

use super::*;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn prompts(files: &[(&str, &str)]) -> Prompts {
    Prompts::of(folder(files).path().to_owned())
}

const ALL: Wanted<'_> = Wanted {
    instead: None,
    persona: None,
    site: "",
    rules: "",
    skills: "- maps: reads maps",
    memory: true,
    tools: true,
    errand: None,
};

const LIMITS: Limits = Limits {
    steps: 11,
    tokens: 32_000,
    output: 4_096,
    time: Duration::from_secs(300),
};

#[test]
fn layers_stand_in_their_order_and_a_file_replaces_its_own() {
    let built_in = prompts(&[]).system(ALL);
    let places: Vec<usize> = Layer::ALL
        .iter()
        .filter(|layer| **layer != Layer::SubAgent)
        .map(|layer| built_in.find(layer.built_in().trim()).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    let own = prompts(&[
        ("IDENTITY.md", "You are the lighthouse.\r\n"),
        ("SOUL.md", " "),
    ]);
    let own = own.system(ALL);
    assert!(own.starts_with("You are the lighthouse.\n\n"), "{own}");
    assert!(own.contains(Layer::Agent.built_in().trim()));
    assert!(!own.contains(Layer::Identity.built_in().trim()));
}

#[test]
fn a_persona_replaces_what_it_has_and_the_rest_stays() {
    let prompts = prompts(&[
        ("SOUL.md", "soul"),
        ("IDENTITY.md", "identity"),
        ("personas/pirate.md", "a pirate"),
        ("personas/judge/SOUL.md", "stern"),
        ("personas/judge/TOOLS.md", "no tools"),
        ("personas/no name.md", "left out"),
    ]);
    assert_eq!(prompts.personas(), ["judge", "pirate"]);
    let of = |persona| {
        let wanted = Wanted {
            persona: Some(persona),
            ..ALL
        };
        prompts.system(wanted)
    };
    assert!(of("pirate").starts_with("soul\n\na pirate\n\n"));
    assert!(of("judge").starts_with("stern\n\nidentity\n\n"));
    assert!(of("judge").ends_with("\n\nno tools"));
    assert_eq!(of("gone"), prompts.system(ALL));
}

#[test]
fn one_text_stands_for_all_layers_until_a_persona_is_chosen() {
    let prompts = prompts(&[("personas/pirate.md", "a pirate")]);
    let wanted = Wanted {
        instead: Some("Be brief."),
        site: "The shop is closed on Sundays.",
        ..ALL
    };
    let text = prompts.system(wanted);
    assert_eq!(text, "Be brief.\n\nThe shop is closed on Sundays.");
    let text = prompts.system(Wanted {
        persona: Some("pirate"),
        ..wanted
    });
    assert!(text.contains("a pirate") && !text.contains("Be brief."));
    let nothing = Wanted {
        instead: Some(""),
        ..ALL
    };
    assert_eq!(prompts.system(nothing), "");
}

#[test]
fn layers_for_what_is_not_there_are_left_out() {
    let bare = prompts(&[]).system(Wanted::default());
    assert!(!bare.contains(Layer::Memory.built_in().trim()));
    assert!(!bare.contains(Layer::Tools.built_in().trim()));
    assert!(!bare.contains(Layer::Skills.built_in().trim()));
}

#[test]
fn the_list_of_skills_stands_behind_its_layer_and_goes_with_it() {
    let all = prompts(&[]).system(ALL);
    let listed = format!(
        "{}\n\n- maps: reads maps\n\n",
        Layer::Skills.built_in().trim()
    );
    assert!(all.contains(&listed), "{all}");
    let own = prompts(&[("SKILLS.md", "Know-how:")]).system(ALL);
    assert!(own.contains("Know-how:\n\n- maps"), "{own}");
    let none = prompts(&[("SKILLS.md", " \n")]).system(ALL);
    assert!(!none.contains("maps"), "{none}");
}

#[test]
fn a_file_that_is_too_large_leaves_the_layer_as_it_was() {
    let large = "x".repeat(70_000);
    let text = prompts(&[("SOUL.md", &large)]).system(ALL);
    assert!(text.starts_with(Layer::Soul.built_in().trim()));
}

#[test]
fn an_errand_is_told_its_limits_behind_the_layer_before_and_its_own_words_last() {
    let plain = prompts(&[]);
    let wanted = Wanted {
        errand: Some((&LIMITS, "Look well.")),
        rules: "Be kind.",
        ..ALL
    };
    let text = plain.system(wanted);
    let told = [
        Layer::Agent.built_in().trim(),
        "at most\n11 times, with 32000 tokens each time, within 300 seconds",
        "at most\n4096 tokens of it",
        Layer::Memory.built_in().trim(),
        "Be kind.\n\nLook well.",
    ];
    let places: Vec<usize> = told.iter().map(|part| text.find(part).unwrap()).collect();
    assert!(places.is_sorted() && text.ends_with("Look well."), "{text}");
    assert!(!plain.system(ALL).contains("errand"));
    let own = prompts(&[("SUB_AGENT.md", "{max_steps} steps, {other}, {budget}.")]);
    assert!(own.system(wanted).contains("11 steps, {other}, 32000."));
    let instead = Wanted {
        instead: Some("Be brief."),
        site: "",
        rules: "",
        ..wanted
    };
    assert_eq!(
        own.system(instead),
        "Be brief.\n\n11 steps, {other}, 32000.\n\nLook well."
    );
    let none = prompts(&[("SUB_AGENT.md", "")]).system(instead);
    assert_eq!(none, "Be brief.\n\nLook well.");
}
