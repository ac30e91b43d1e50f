//! Parses YAML once into a tree with places.
//!
//! Owns the YAML dialect that agent.yaml is written in: one document; no duplicate keys, tags or merge
//! keys; aliases within a budget. Scalars keep their text: nothing is guessed about numbers or truth
//! values here, and no variable is expanded.

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, options};
use weirgate_sdk::settings::{Entry, Kind, Node, Place, Problem, Problems, Scalar, Value, join};

/// Largest file, in bytes.
pub(super) const MAX_BYTES: usize = 1024 * 1024;
/// Most values in the tree, those that aliases repeat included.
const MAX_NODES: usize = 20_000;
/// Deepest nesting of lists and maps.
const MAX_DEPTH: usize = 32;
/// Most aliases.
const MAX_ALIASES: usize = 64;

/// The tree of `text`. Faults are reported; `None` if no tree can be made of it.
pub(crate) fn parse(text: &str, problems: &Problems) -> Option<Node> {
    let events = Parser::new_from_str_with_options(
        text,
        options! {
            emit_comments: false,
            strict_indentation: true,
            disallow_directives: true,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        },
    );
    let mut builder = Builder::new(problems);
    for event in events {
        let result = match event {
            Ok((event, span)) => builder.take(event, &span),
            Err(error) => Err(syntax(text, &error)),
        };
        if let Err(problem) = result {
            problems.push(*problem);
            return None;
        }
    }
    Some(builder.root.unwrap_or_else(|| Node::new(Value::Null)))
}

/// A list or map that is still being read.
struct Open {
    place: Place,
    anchor: usize,
    path: String,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        key: Option<(String, Place)>,
    },
}

struct Builder<'a> {
    problems: &'a Problems,
    open: Vec<Open>,
    anchors: Vec<(usize, Node)>,
    root: Option<Node>,
    nodes: usize,
    aliases: usize,
    documents: usize,
}

/// A fault that ends the parsing.
type Fatal = Box<Problem>;

impl<'a> Builder<'a> {
    fn new(problems: &'a Problems) -> Self {
        Self {
            problems,
            open: Vec::new(),
            anchors: Vec::new(),
            root: None,
            nodes: 0,
            aliases: 0,
            documents: 0,
        }
    }

    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Fatal> {
        let place = place(span);
        if event.tag().is_some() {
            let problem =
                Problem::error(self.path(), Some(place), invalid("YAML tags are not read"));
            self.problems
                .push(problem.hint("put a text that begins with ! in quotes"));
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return self.fatal(place, "a second document begins here");
                }
            }
            Event::Scalar(text, style, anchor, _) => {
                self.count(1, place)?;
                self.scalar(text.into_owned(), style, anchor, place)?;
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(OpenKind::List(Vec::new()), anchor, place)?;
            }
            Event::MappingStart(_, anchor, _) => {
                let kind = OpenKind::Map {
                    entries: Vec::new(),
                    key: None,
                };
                self.begin(kind, anchor, place)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(anchor, place)?,
            _ => {}
        }
        Ok(())
    }

    fn fatal<T>(&self, place: Place, what: &str) -> Result<T, Fatal> {
        Err(Box::new(Problem::error(
            self.path(),
            Some(place),
            invalid(what),
        )))
    }

    fn count(&mut self, nodes: usize, place: Place) -> Result<(), Fatal> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return self.fatal(place, "the file has too many values");
        }
        Ok(())
    }

    /// The path of the value that comes next.
    fn path(&self) -> String {
        let Some(open) = self.open.last() else {
            return String::new();
        };
        match &open.kind {
            OpenKind::List(items) => format!("{}[{}]", open.path, items.len()),
            OpenKind::Map {
                key: Some((key, _)),
                ..
            } => join(&open.path, key),
            OpenKind::Map { key: None, .. } => open.path.clone(),
        }
    }

    /// The next value is a key of a map.
    fn at_key(&self) -> bool {
        let kind = self.open.last().map(|open| &open.kind);
        matches!(kind, Some(OpenKind::Map { key: None, .. }))
    }

    fn scalar(
        &mut self,
        text: String,
        style: ScalarStyle,
        anchor: usize,
        place: Place,
    ) -> Result<(), Fatal> {
        if self.at_key() {
            return self.key(text, place);
        }
        let quoted = style != ScalarStyle::Plain;
        let null = !quoted && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
        let value = if null {
            Value::Null
        } else {
            Value::Scalar(Scalar {
                text,
                quoted,
                variable: None,
            })
        };
        self.close(Node { place, value }, anchor);
        Ok(())
    }

    fn key(&mut self, text: String, place: Place) -> Result<(), Fatal> {
        if text == "<<" {
            return self.fatal(place, "merge keys (<<) are not read: write the keys out");
        }
        if text.is_empty() {
            return self.fatal(place, "a key is empty");
        }
        if let Some(Open {
            kind: OpenKind::Map { entries, key },
            path,
            ..
        }) = self.open.last_mut()
        {
            if let Some(first) = entries.iter().find(|entry| entry.key == text) {
                let kind = Kind::Duplicate { first: first.place };
                self.problems
                    .push(Problem::error(join(path, &text), Some(place), kind));
            }
            *key = Some((text, place));
        }
        Ok(())
    }

    fn begin(&mut self, kind: OpenKind, anchor: usize, place: Place) -> Result<(), Fatal> {
        self.count(1, place)?;
        if self.at_key() {
            return self.fatal(place, "a key must be a plain text");
        }
        if self.open.len() >= MAX_DEPTH {
            return self.fatal(place, "the file is nested too deeply");
        }
        let path = self.path();
        self.open.push(Open {
            place,
            anchor,
            path,
            kind,
        });
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let value = match open.kind {
            OpenKind::List(items) => Value::List(items),
            OpenKind::Map { entries, .. } => Value::Map(entries),
        };
        self.close(
            Node {
                place: open.place,
                value,
            },
            open.anchor,
        );
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Fatal> {
        self.aliases += 1;
        if self.aliases > MAX_ALIASES {
            return self.fatal(place, "the file has too many aliases");
        }
        if self.at_key() {
            return self.fatal(place, "a key must be a plain text");
        }
        let Some((_, node)) = self.anchors.iter().find(|(id, _)| *id == anchor) else {
            return self.fatal(place, "the alias stands inside what it repeats");
        };
        let node = node.clone();
        let (nodes, depth) = extent(&node);
        self.count(nodes, place)?;
        if self.open.len() + depth > MAX_DEPTH {
            return self.fatal(place, "the file is nested too deeply");
        }
        self.close(node, 0);
        Ok(())
    }

    /// Puts a finished value where it belongs. Of a duplicate key the first value stays.
    fn close(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            self.anchors.push((anchor, node.clone()));
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Map { entries, key }) => {
                if let Some((key, place)) = key.take()
                    && entries.iter().all(|entry| entry.key != key)
                {
                    entries.push(Entry { key, place, node });
                }
            }
            None => self.root = Some(node),
        }
    }
}

/// How many values a tree has, and how many lists and maps it nests, at most [`MAX_DEPTH`].
fn extent(node: &Node) -> (usize, usize) {
    let inside = |children: &mut dyn Iterator<Item = &Node>| {
        let (mut nodes, mut depth) = (1, 1);
        for child in children {
            let (child_nodes, child_depth) = extent(child);
            nodes += child_nodes;
            depth = depth.max(child_depth + 1);
        }
        (nodes, depth)
    };
    match &node.value {
        Value::List(items) => inside(&mut items.iter()),
        Value::Map(entries) => inside(&mut entries.iter().map(|entry| &entry.node)),
        _ => (1, 0),
    }
}

fn invalid(what: &str) -> Kind {
    Kind::Invalid(what.to_owned())
}

fn place(span: &Span) -> Place {
    at(span.start.line(), span.start.col())
}

fn at(line: usize, column: usize) -> Place {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place {
        line: number(line.max(1)),
        column: number(column).saturating_add(1),
    }
}

/// A fault of the syntax; a `${` in the line is the usual cause inside of brackets.
fn syntax(text: &str, error: &ScanError) -> Fatal {
    let place = at(error.marker().line(), error.marker().col());
    let problem = Problem::error(
        "",
        Some(place),
        invalid(&format!("not YAML: {}", error.info())),
    );
    let index = usize::try_from(place.line).unwrap_or(1).saturating_sub(1);
    let line = text.lines().nth(index).unwrap_or_default();
    Box::new(if line.contains("${") {
        problem.hint("put a value with ${NAME} in quotes")
    } else if line.contains('\t') {
        problem.hint("indent with spaces, not with tabs")
    } else {
        problem
    })
}

#[cfg(test)]
mod tests;
