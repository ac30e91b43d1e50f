//! The fake against a description of the Bot API made by others: what it checks calls by must be what is documented.
//!
//! `tests/run.sh` unpacks the description; without it this test fails and says so.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::Value;
use weirgate_testkit::telegram::table::{self, Field, Table};

/// The fields of every method and type, as the description has them.
fn described() -> Table {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = target.join("../counterparts/bot_api.json");
    let text = fs::read_to_string(&file);
    let text = text.expect(
        "the description of the Bot API is not there: run `bash tests/run.sh --counterparts` once",
    );
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let groups = whole["items"].as_array().expect("groups");
    let children = groups.iter().flat_map(|group| group["children"].as_array());
    let mut table = Table::new();
    for child in children.flatten() {
        let name = child["name"].as_str().unwrap_or_default().to_owned();
        let fields = child["annotations"].as_array().into_iter().flatten();
        table.insert(name, fields.filter_map(field).collect());
    }
    table
}

fn field(annotation: &Value) -> Option<(String, Field)> {
    let kind = annotation["type"].as_str()?;
    let about = annotation["description"].as_str().unwrap_or_default();
    let required = annotation["required"].as_bool();
    let field = Field {
        kind: kind
            .replace(" or ", "|")
            .replace(" and ", "|")
            .replace(", ", "|")
            .replace("Array of ", "Array:"),
        // Types say it in words.
        required: required.unwrap_or(!about.starts_with("Optional")),
    };
    Some((annotation["name"].as_str()?.to_owned(), field))
}

fn differences(own: &Table, described: &Table) -> Vec<String> {
    let none = BTreeMap::new();
    let mut found = Vec::new();
    for (name, fields) in own {
        let Some(documented) = described.get(name) else {
            found.push(format!("{name} is not documented"));
            continue;
        };
        for (field, own) in fields {
            if documented.get(field) != Some(own) {
                found.push(format!(
                    "{name}.{field}: {own:?}, documented {:?}",
                    documented.get(field)
                ));
            }
        }
        let left_out = described
            .get(name)
            .unwrap_or(&none)
            .keys()
            .filter(|field| !fields.contains_key(*field));
        found.extend(left_out.map(|field| format!("{name}.{field} is left out")));
    }
    found
}

#[test]
fn calls_are_checked_by_what_is_documented() {
    let described = described();
    assert!(described.len() > 300, "{}", described.len());
    assert_eq!(
        differences(table::methods(), &described),
        Vec::<String>::new()
    );
    assert_eq!(
        differences(table::types(), &described),
        Vec::<String>::new()
    );
    assert!(table::methods().len() > 15 && table::types().len() >= 5);
}

#[test]
fn a_table_that_differs_is_found_out() {
    let described = described();
    let mut own = table::methods().clone();
    let send = own.get_mut("sendMessage").expect("it is there");
    send.remove("text");
    let field = Field {
        kind: "String".into(),
        required: true,
    };
    send.insert("colour".into(), field);
    let found = differences(&own, &described);
    assert_eq!(found.len(), 2, "{found:?}");
}
