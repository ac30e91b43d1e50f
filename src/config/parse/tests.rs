//! Tests of the parser: places, what is refused, and budgets.

use std::fmt::Write;

use proptest::prelude::*;
use weirgate_sdk::settings::{Entry, Node, Place, Problems, Scalar, Value};

use super::{MAX_ALIASES, MAX_DEPTH, MAX_NODES, parse};

fn parsed(text: &str) -> (Option<Node>, Vec<String>) {
    let problems = Problems::new();
    let node = parse(text, &problems);
    let show = |p: weirgate_sdk::settings::Problem| {
        let place = p
            .place
            .map(|p| format!("{}:{}", p.line, p.column))
            .unwrap_or_default();
        let hint = p.hint.map(|hint| format!(" | {hint}")).unwrap_or_default();
        format!("{place} {}: {}{hint}", p.path, p.kind)
    };
    (node, problems.take().into_iter().map(show).collect())
}

fn good(text: &str) -> Node {
    let (node, problems) = parsed(text);
    assert_eq!(problems, [""; 0], "{text}");
    node.unwrap()
}

fn text_of(node: &Node) -> &str {
    match &node.value {
        Value::Scalar(scalar) => &scalar.text,
        other => panic!("no scalar: {other:?}"),
    }
}

#[test]
fn keys_and_values_have_places_counted_in_characters() {
    let root = good("甲: 乙\nlist:\n  - one\n  - {k: v}\n");
    let Value::Map(entries) = &root.value else {
        panic!("no map")
    };
    let at = |line, column| Place { line, column };
    assert_eq!(
        (entries[0].place, entries[0].node.place),
        (at(1, 1), at(1, 4))
    );
    assert_eq!(entries[1].place, at(2, 1));
    let Value::List(items) = &entries[1].node.value else {
        panic!("no list")
    };
    assert_eq!(items[0].place, at(3, 5));
    assert_eq!(items[1].get("k").unwrap().place, at(4, 9));
}

#[test]
fn scalars_keep_their_text_and_whether_they_were_quoted() {
    let root = good("a: 0123\nb: \"0123\"\nc: |\n  x\n  y\nd: 1_000\ne: yes\nf: ~\ng: 'it''s'\n");
    let scalar = |key: &str| match &root.get(key).unwrap().value {
        Value::Scalar(Scalar { text, quoted, .. }) => (text.clone(), *quoted),
        other => panic!("{other:?}"),
    };
    assert_eq!(scalar("a"), ("0123".to_owned(), false));
    assert_eq!(scalar("b"), ("0123".to_owned(), true));
    assert_eq!(scalar("c"), ("x\ny\n".to_owned(), true));
    assert_eq!(scalar("d"), ("1_000".to_owned(), false));
    assert_eq!(scalar("e"), ("yes".to_owned(), false));
    assert_eq!(root.get("f").unwrap().value, Value::Null);
    assert_eq!(scalar("g"), ("it's".to_owned(), true));
}

#[test]
fn duplicate_keys_are_refused_wherever_they_are_and_the_first_stays() {
    let (node, problems) = parsed("a: {x: 1, x: 2}\nb:\n- {y: 1, y: 2}\na: 3\n");
    assert_eq!(
        problems,
        [
            "1:11 a.x: the key stands here for the second time (first in line 1)",
            "3:10 b[0].y: the key stands here for the second time (first in line 3)",
            "4:1 a: the key stands here for the second time (first in line 1)",
        ]
    );
    assert_eq!(
        text_of(node.unwrap().get("a").unwrap().get("x").unwrap()),
        "1"
    );
}

#[test]
fn what_the_dialect_does_not_have_is_refused_with_a_way_out() {
    let cases = [
        (
            "a: !abc x",
            "1:9 a: YAML tags are not read | put a text that begins with ! in quotes",
        ),
        (
            "a: &x {b: 1}\nc:\n  <<: *x",
            "3:3 c: merge keys (<<) are not read: write the keys out",
        ),
        ("? [a]\n: b", "1:3 : a key must be a plain text"),
        ("\"\": b", "1:1 : a key is empty"),
        ("a: 1\n---\nb: 2", "2:1 : a second document begins here"),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed(text).1, [expected], "{text}");
    }
}

#[test]
fn a_fault_of_the_syntax_has_its_place_and_a_hint() {
    let (node, problems) = parsed("a: [1, 2\nb: 3\n");
    assert_eq!(node, None);
    assert!(problems[0].contains(" : not YAML: "), "{problems:?}");
    let (_, problems) = parsed("web: {token: ${WEB_TOKEN}}\n");
    assert!(problems[0].starts_with("1:"), "{problems:?}");
    assert!(
        problems[0].ends_with("| put a value with ${NAME} in quotes"),
        "{problems:?}"
    );
    let (_, problems) = parsed("a:\n\tb: 1\n");
    assert!(
        problems[0].ends_with("| indent with spaces, not with tabs"),
        "{problems:?}"
    );
}

#[test]
fn an_alias_repeats_its_anchor() {
    let root = good("a: &x {k: [v]}\nb: *x\n");
    assert_eq!(root.get("a"), root.get("b"));
}

#[test]
fn bombs_are_refused_before_they_grow() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..8 {
        let inner = vec![format!("*a{}", n - 1); 9].join(", ");
        let _ = writeln!(bomb, "a{n}: &a{n} [{inner}]");
    }
    let told = parsed(&bomb).1;
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("too many"), "{told:?}");

    let many = format!("a: &a 1\nb: [{}]\n", vec!["*a"; MAX_ALIASES + 1].join(", "));
    assert!(parsed(&many).1[0].ends_with("the file has too many aliases"));
    let long = format!("[{}]", "1,".repeat(MAX_NODES));
    assert!(parsed(&long).1[0].ends_with("the file has too many values"));
    let deep = format!("{}{}", "[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1));
    assert_eq!(parsed(&deep).1.len(), 1);
    let mut chain = "a0: &a0 [[[[[[[[[[[[x]]]]]]]]]]]]\n".to_owned();
    for n in 1..4 {
        let _ = writeln!(chain, "a{n}: &a{n} [[[[[[[[[[[[*a{}]]]]]]]]]]]]", n - 1);
    }
    assert!(parsed(&chain).1[0].ends_with("the file is nested too deeply"));
    assert!(parsed("a: &a [*a]").1[0].ends_with("the alias stands inside what it repeats"));
}

#[test]
fn an_empty_text_is_nothing() {
    for text in ["", "\n", "# only a comment\n", "---\n", "\u{feff}"] {
        assert_eq!(good(text).value, Value::Null, "{text:?}");
    }
}

/// A tree of quoted scalars, lists and maps with distinct keys.
fn trees() -> impl Strategy<Value = Node> {
    let leaf = any::<String>().prop_map(|text| {
        Node::new(Value::Scalar(Scalar {
            text,
            quoted: true,
            variable: None,
        }))
    });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let maps = prop::collection::btree_map("[^\u{0}]{1,6}", inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Node::list),
            maps.prop_filter("merge key", |map| !map.contains_key("<<"))
                .prop_map(|map| {
                    let entry = |(key, node)| Entry {
                        key,
                        place: Place::START,
                        node,
                    };
                    Node::new(Value::Map(map.into_iter().map(entry).collect()))
                }),
        ]
    })
}

/// The tree as YAML in flow form, every text in double quotes with escapes.
fn write(node: &Node, out: &mut String) {
    match &node.value {
        Value::Scalar(scalar) => quote(&scalar.text, out),
        Value::List(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push_str(", ");
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for entry in entries {
                out.push_str("? ");
                quote(&entry.key, out);
                out.push_str(" : ");
                write(&entry.node, out);
                out.push_str(", ");
            }
            out.push('}');
        }
        Value::Null | Value::Failed => {}
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else {
            let _ = write!(out, "\\U{:08x}", u32::from(c));
        }
    }
    out.push('"');
}

/// The same tree at the top of the file.
fn without_places(node: &mut Node) {
    node.place = Place::START;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(without_places),
        Value::Map(entries) => {
            for entry in entries {
                entry.place = Place::START;
                without_places(&mut entry.node);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_tree_comes_back_from_its_text(tree in trees()) {
        let mut text = String::new();
        write(&tree, &mut text);
        let mut read = good(&text);
        without_places(&mut read);
        prop_assert_eq!(read, tree);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-a{}\\[\\]:,&*!|>'\"%@`#?\\\\ \n\t$0长]{0,80}") {
        let (node, problems) = parsed(&text);
        prop_assert!(node.is_some() || !problems.is_empty());
    }
}
