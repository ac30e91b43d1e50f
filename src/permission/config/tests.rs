//! The section as it is written.

use weirgate_sdk::settings::{Node, Problems};

use super::*;

fn read(node: &Node) -> (Permissions, Vec<String>) {
    let problems = Problems::new();
    let fields = Fields::new(node, "permissions", &problems);
    let read = Permissions::read(fields, &["p"], &["help", "status", "role"]);
    let told = problems
        .take()
        .iter()
        .map(|problem| format!("{}: {}", problem.path, problem.kind))
        .collect();
    (read, told)
}

fn role(capabilities: Node, inherits: &[&str]) -> Node {
    let inherits = Node::list(inherits.iter().map(|name| Node::text(name)));
    Node::map([("capabilities", capabilities), ("inherits", inherits)])
}

fn roles(roles: Vec<(&str, Node)>) -> Node {
    Node::map([("roles", Node::map(roles))])
}

#[test]
fn the_shorthand_numbers_mean_the_roles_of_that_name_alone() {
    let source = roles(vec![
        ("owner", role(Node::text("0o700"), &["admin"])),
        ("admin", role(Node::text("0o600"), &["member"])),
        ("member", role(Node::text("0o400"), &["guest"])),
        ("guest", role(Node::text("0o100"), &[])),
        ("blocked", role(Node::text("0o000"), &[])),
        ("reader", role(Node::text("0o400"), &[])),
    ]);
    let (read, told) = read(&source);
    assert_eq!(told, [""; 0]);
    for built_in in BuiltIn::ALL {
        assert_eq!(read.roles.built_in(built_in), built_in.role());
    }
    let reader = read.roles.get("reader").expect("a role");
    assert_eq!(reader.capabilities(), Capability::READ);
}

#[test]
fn capabilities_are_octal_or_names() {
    let names = Node::list(["MANAGE_MEMBER", "SEND_MESSAGE"].map(Node::text));
    let (permissions, told) = read(&roles(vec![("helper", role(names, &["guest"]))]));
    assert_eq!(told, [""; 0]);
    let helper = permissions.roles.get("helper").expect("a role");
    assert_eq!(helper.capabilities().bits(), 0o444);
    for wrong in ["440", "0o1000", "0o8", "all"] {
        let (_, told) = read(&roles(vec![("helper", role(Node::text(wrong), &[]))]));
        assert_eq!(told.len(), 1, "{wrong}: {told:?}");
        assert!(
            told[0].starts_with("permissions.roles.helper.capabilities: "),
            "{told:?}"
        );
    }
    let (_, told) = read(&roles(vec![(
        "helper",
        role(Node::list([Node::text("MANAGE_ALL")]), &[]),
    )]));
    assert!(
        told[0].starts_with("permissions.roles.helper.capabilities[0]: "),
        "{told:?}"
    );
    let (_, told) = read(&roles(vec![("a b", role(Node::text("0o400"), &[]))]));
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn faults_of_inheritance_stand_at_the_role() {
    let circle = roles(vec![
        ("a", role(Node::text("0o400"), &["b"])),
        ("b", role(Node::text("0o400"), &["a"])),
    ]);
    let (_, told) = read(&circle);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("permissions.roles.a: ") && told[0].contains("a > b > a"));
}

#[test]
fn commands_move_between_levels() {
    let list = |names: &[&str]| Node::list(names.iter().map(|name| Node::text(name)));
    let node = Node::map([(
        "commands",
        Node::map([
            ("public", list(&["/help", "/weather"])),
            ("admin", list(&["/status"])),
            ("owner", list(&["/help"])),
        ]),
    )]);
    let (read, told) = read(&node);
    assert_eq!(read.commands["status"], Level::Admin);
    assert_eq!(
        told,
        [
            "permissions.commands.public[1]: there is no command /weather in this version",
            "permissions.commands.owner[0]: /help is listed twice",
        ]
    );
    let (_, told) = self::read(&Node::map([("default_role", Node::text("king"))]));
    assert_eq!(told, ["permissions.default_role: there is no such role"]);
}
