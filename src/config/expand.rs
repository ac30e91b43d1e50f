//! Expands environment variables in the scalars of a parsed tree.
//!
//! Owns the forms: `${NAME}`, `${NAME:-default}` (also when NAME is empty), `$$` for a dollar, and the
//! bare `$XDG_DATA_HOME`, which falls back to `$HOME/.local/share`. Any other dollar stands for itself.
//! What comes out of a variable is not expanded again and never changes the structure of the file. Keys
//! are not expanded.

use weirgate_sdk::settings::{Kind, Node, Place, Problem, Problems, Scalar, Value, join};

/// The variable that names the folder for a user's data.
const DATA_HOME: &str = "XDG_DATA_HOME";

/// Gives the value of an environment variable.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Why a text cannot be expanded. `Display`-free: the words are in [`Fault::describe`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The variable is not set and there is no default.
    Unset(String),
    /// A `${` that no `}` closes, or what is between them is no name.
    Malformed,
    /// Neither XDG_DATA_HOME nor HOME says where a user's data is.
    NoDataHome,
}

impl Fault {
    pub(super) fn describe(&self) -> (String, String) {
        match self {
            Self::Unset(name) => (
                format!("the variable {name} is not set"),
                format!("set {name}, or write a default: ${{{name}:-...}}"),
            ),
            Self::Malformed => (
                "${ must be followed by a variable's name and }".to_owned(),
                "write ${NAME} or ${NAME:-default}; a dollar that is meant as such is $$"
                    .to_owned(),
            ),
            Self::NoDataHome => (
                "the folder for data is unknown: neither XDG_DATA_HOME nor HOME is set".to_owned(),
                "set XDG_DATA_HOME, or write the path out".to_owned(),
            ),
        }
    }
}

/// Expands every scalar of the tree in place. A scalar that cannot be expanded is reported and becomes
/// [`Value::Failed`].
pub(super) fn expand(node: &mut Node, path: &str, env: &Environment<'_>, problems: &Problems) {
    match &mut node.value {
        Value::Scalar(scalar) => {
            if let Err(fault) = expand_scalar(scalar, env) {
                report(&fault, path, Some(node.place), problems);
                node.value = Value::Failed;
            }
        }
        Value::List(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                expand(item, &format!("{path}[{i}]"), env, problems);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                expand(&mut entry.node, &join(path, &entry.key), env, problems);
            }
        }
        Value::Null | Value::Failed => {}
    }
}

pub(super) fn report(fault: &Fault, path: &str, place: Option<Place>, problems: &Problems) {
    let (what, hint) = fault.describe();
    problems.push(Problem::error(path, place, Kind::Invalid(what)).hint(hint));
}

fn expand_scalar(scalar: &mut Scalar, env: &Environment<'_>) -> Result<(), Fault> {
    if scalar.text.contains('$') {
        (scalar.text, scalar.variable) = expand_text(&scalar.text, env)?;
    }
    Ok(())
}

/// The expanded text and the first variable that went into it.
pub(super) fn expand_text(
    text: &str,
    env: &Environment<'_>,
) -> Result<(String, Option<String>), Fault> {
    let mut out = String::with_capacity(text.len());
    let mut first = None;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(after) = after.strip_prefix('{') {
            let (inside, after) = after.split_once('}').ok_or(Fault::Malformed)?;
            let (name, value) = braced(inside, env)?;
            out.push_str(&value);
            first.get_or_insert_with(|| name.to_owned());
            rest = after;
        } else if let Some(after) = after
            .strip_prefix(DATA_HOME)
            .filter(|after| ends_name(after))
        {
            out.push_str(&data_home(env).ok_or(Fault::NoDataHome)?);
            rest = after;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    Ok((out, first))
}

/// The name and the value of what stands between `${` and `}`.
fn braced<'t>(inside: &'t str, env: &Environment<'_>) -> Result<(&'t str, String), Fault> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| word(c) && !c.is_ascii_digit()) || !name.chars().all(word) {
        return Err(Fault::Malformed);
    }
    let value = env(name);
    let value = match default {
        Some(default) => value
            .filter(|v| !v.is_empty())
            .unwrap_or_else(|| default.to_owned()),
        None if name == DATA_HOME => data_home(env).ok_or(Fault::NoDataHome)?,
        None => value.ok_or_else(|| Fault::Unset(name.to_owned()))?,
    };
    Ok((name, value))
}

/// The name before `after` is not longer than what was found.
fn ends_name(after: &str) -> bool {
    !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// The folder for a user's data. As the XDG rules have it, a path that is not absolute counts as unset.
#[must_use]
pub fn data_home(env: &Environment<'_>) -> Option<String> {
    let home = || {
        let home = env("HOME").filter(|home| !home.is_empty())?;
        Some(format!("{}/.local/share", home.trim_end_matches('/')))
    };
    env(DATA_HOME)
        .filter(|path| path.starts_with('/'))
        .or_else(home)
}

#[cfg(test)]
mod tests;
