use serde_json::{Value, json, value::to_raw_value};

use super::*;

fn read(value: &Value) -> Option<Vec<Member>> {
    admins(Some(&to_raw_value(value).expect("JSON")), &"qq".into())
}

#[test]
fn members_are_read_as_the_wire_has_them() {
    let list = json!([
        { "user_id": "1", "role": "owner", "nickname": "n", "card": "c" },
        { "user_id": 2, "role": "admin", "nickname": "n", "card": "", "shut_up_timestamp": "1790000000" },
        { "user_id": 3, "role": "member" },
        { "role": "admin" },
        7,
    ]);
    let found = read(&list).expect("a list");
    let seen: Vec<_> = found
        .iter()
        .map(|one| (one.user.id.as_str(), &*one.name, one.role))
        .collect();
    assert_eq!(
        seen,
        [
            ("1", "c", PlatformRole::Owner),
            ("2", "n", PlatformRole::Admin)
        ]
    );
    assert_eq!(found[0].muted_until, None);
    assert_eq!(found[1].muted_until, Some(1_790_000_000_000));
    assert_eq!(read(&json!({})), None);
}
