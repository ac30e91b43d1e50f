use std::{fs, path::Path, time::Duration};

use serde_json::json;
use tokio::time::Instant;

use super::{folder::Programs, *};

fn put(folder: &Path, name: &str, manifest: &Value, script: &str) {
    let folder = folder.join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("run.sh"), script).unwrap();
    fs::write(folder.join("module.json"), manifest.to_string()).unwrap();
}

fn manifest(name: &str) -> Value {
    json!({"name": name, "version": "1", "description": "a test", "dependencies": [],
        "command": ["sh", "run.sh"]})
}

fn names(programs: &Programs) -> Vec<String> {
    let all = programs.all();
    all.iter()
        .map(|entry| entry.tool.spec().name.clone())
        .collect()
}

#[test]
fn broken_programs_are_left_out_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "good", &manifest("good"), "");
    put(folder.path(), "taken", &manifest("taken"), "");
    put(folder.path(), "renamed", &manifest("other"), "");
    put(
        folder.path(),
        "no-command",
        &json!({"name": "no-command", "description": "", "command": []}),
        "",
    );
    let mut odd = manifest("odd");
    odd["parameters"] = json!({"type": "string"});
    put(folder.path(), "odd", &odd, "");
    let mut unknown = manifest("unknown");
    unknown["reapeatable"] = json!(true);
    put(folder.path(), "unknown", &unknown, "");
    put(folder.path(), "bad.name", &manifest("bad.name"), "");
    fs::create_dir(folder.path().join("empty")).unwrap();
    let programs = Programs::of(folder.path().to_owned(), vec!["taken".to_owned()]);
    assert_eq!(names(&programs), ["good"]);
    let all = programs.all();
    let spec = all[0].tool.spec();
    assert!(
        !spec.repeatable && !spec.global,
        "what it does not say is the careful choice"
    );
}

#[tokio::test]
async fn a_program_that_comes_later_is_found_and_one_that_goes_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let programs = Programs::of(folder.path().to_owned(), Vec::new());
    assert!(names(&programs).is_empty());
    let wait = async |wanted: &[&str]| {
        let limit = Instant::now() + Duration::from_secs(30);
        while names(&programs) != wanted {
            assert!(Instant::now() < limit, "{:?}", names(&programs));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    put(folder.path(), "late", &manifest("late"), "");
    wait(&["late"]).await;
    fs::remove_dir_all(folder.path().join("late")).unwrap();
    wait(&[]).await;
}
