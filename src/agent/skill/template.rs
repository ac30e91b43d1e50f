//! Skills that run by themselves: a list of steps, each a tool, an agent or a question to a model.
//!
//! Owns what a template is. How its file is checked is `read`'s, what is put into its texts `pattern`'s, how far it has come
//! `progress`'s, and how it runs `run`'s. A template grants nothing: each step is looked at as a call of the model would be.

mod pattern;
pub(in crate::agent) mod progress;
mod read;
pub(in crate::agent) mod run;
pub mod tool;
mod typed;

use std::time::Duration;

use serde_json::{Map, Value};

use self::pattern::{Pattern, Values};
use crate::agent::tool::schema::Schema;

pub(super) use read::{STEPS, read};

/// Most steps.
const MAX_STEPS: usize = 20;
/// Longest texts of one step with what is put into them, in bytes.
const MAX_FILLED: usize = 256 * 1024;

/// A list of steps, with what it is given.
#[derive(Debug)]
pub struct Template {
    /// The name of the skill.
    pub(super) name: String,
    /// The JSON Schema of its inputs.
    inputs: Value,
    schema: Schema,
    /// What holds for inputs that are not given.
    defaults: Map<String, Value>,
    steps: Vec<Step>,
    /// The longest time that it may take, without waiting for people.
    timeout: Duration,
    /// Tells one state of the file from another.
    digest: String,
}

/// Two are the same if their files are.
impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Template {}

/// A step.
#[derive(Debug)]
struct Step {
    /// Its name among the steps.
    id: String,
    does: Does,
    on_result: OnResult,
    on_error: OnError,
}

/// What a step does.
#[derive(Debug)]
enum Does {
    /// It calls a tool.
    Tool { tool: String, args: Args },
    /// It gives an agent a task.
    Agent {
        /// Its name; that of a tool for one by others. Empty for one without a name.
        agent: String,
        task: Pattern,
        /// What of all that it can do, and what is given beside; of agents by others.
        action: Option<Pattern>,
        args: Option<Args>,
    },
    /// It asks a model.
    Llm { prompt: Pattern },
}

/// What follows on success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnResult {
    /// The next step.
    Continue,
    /// The end.
    StopIfSuccess,
}

/// What follows on a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnError {
    /// The end.
    Stop,
    /// The next step.
    Continue,
}

/// Arguments, in which texts may refer to something.
type Args = Vec<(String, Arg)>;

#[derive(Debug)]
enum Arg {
    Plain(Value),
    Text(Pattern),
    List(Vec<Self>),
    Map(Args),
}

impl Template {
    /// The inputs with what holds for those that are not given.
    ///
    /// # Errors
    /// What does not fit.
    fn filled(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let mut inputs = self.defaults.clone();
        inputs.extend(
            given
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        self.schema.check(&inputs)?;
        Ok(inputs)
    }

    /// The form of its inputs, for whoever runs it.
    fn form(&self) -> String {
        self.inputs.to_string()
    }
}

impl Arg {
    /// The value; `None` if it is a reference to nothing.
    fn value(&self, values: Values<'_>) -> Result<Option<Value>, String> {
        match self {
            Self::Plain(value) => Ok(Some(value.clone())),
            Self::Text(pattern) => pattern.value(values),
            Self::List(list) => {
                let each = list.iter().map(|one| one.value(values));
                let list: Vec<Option<Value>> = each.collect::<Result<_, _>>()?;
                Ok(Some(Value::Array(list.into_iter().flatten().collect())))
            }
            Self::Map(args) => Ok(Some(Value::Object(filled(args, values)?))),
        }
    }
}

/// Arguments with their values. One that is a reference to nothing is left out.
///
/// # Errors
/// What a reference looks for is not there, or it is too much.
fn filled(args: &Args, values: Values<'_>) -> Result<Map<String, Value>, String> {
    let mut map = Map::new();
    let mut size = 0_usize;
    for (key, arg) in args {
        if let Some(value) = arg.value(values)? {
            size = size.saturating_add(value.to_string().len());
            map.insert(key.clone(), value);
        }
        if size > MAX_FILLED {
            return Err(format!("the arguments have more than {MAX_FILLED} bytes"));
        }
    }
    Ok(map)
}
