//! The report: a gateway and the floor, measured in one go.
//!
//! Owns which cases are measured and in which order: for each, the floor first and the gateway right
//! after it, so that both meet the same machine. One system is loaded at a time.

mod rig;
mod table;

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use self::{
    rig::{Bot, Rig},
    table::{Row, System},
};
use crate::{
    Fault,
    model::Pace,
    process,
    run::{Plan, Shape, run},
};

/// What is said for a command.
const COMMAND: &str = "/ping {tag}";
/// What is said to a model.
const TURN: &str = "hello {tag}";
/// A model that costs nothing.
const INSTANT: Pace = Pace {
    first_ms: 0,
    tokens: 1,
    inter_ms: 0,
    stamped: false,
};
/// A model as people meet it, but quicker.
const PACED: Pace = Pace {
    first_ms: 200,
    tokens: 50,
    inter_ms: 4,
    stamped: false,
};
/// Starts of which the middle one counts.
const STARTS: usize = 3;
/// How long a system is left alone before its idle memory is read.
const REST: Duration = Duration::from_secs(2);

/// One measurement.
struct Case {
    name: &'static str,
    text: &'static str,
    users: usize,
    messages: usize,
    shape: Shape,
}

/// The cases of an instant model.
fn cases(quick: bool) -> Vec<Case> {
    let count = |full, few| if quick { few } else { full };
    let case = |name, text, users, messages, shape| Case {
        name,
        text,
        users,
        messages,
        shape,
    };
    vec![
        case(
            "commands, one at a time",
            COMMAND,
            64,
            count(10_000, 2_000),
            Shape::Window(1),
        ),
        case(
            "commands, 64 at once",
            COMMAND,
            64,
            count(50_000, 10_000),
            Shape::Window(64),
        ),
        case("burst, 200 users × 20", COMMAND, 200, 4_000, Shape::Burst),
        case(
            "flood, 2,000 users",
            COMMAND,
            2_000,
            count(100_000, 5_000),
            Shape::Burst,
        ),
        case(
            "model turns, instant, 64 users",
            TURN,
            64,
            count(20_000, 2_000),
            Shape::UserWindow(1),
        ),
    ]
}

/// The case of a model that takes its time.
fn paced(quick: bool) -> Case {
    Case {
        name: "model turns, 200 ms + 49 × 4 ms, 200 users",
        text: TURN,
        users: 200,
        messages: if quick { 1_000 } else { 6_000 },
        shape: Shape::UserWindow(1),
    }
}

/// Measures everything and writes the report.
///
/// # Errors
/// A program does not start or ends too early.
pub async fn report(gateway: &Path, quick: bool) -> Result<String, Fault> {
    let gateway = gateway.canonicalize()?;
    let began = Instant::now();
    let mut rows = starts(&gateway).await?;
    let rig = Rig::start(&gateway, INSTANT).await?;
    tokio::time::sleep(REST).await;
    for (system, bot) in rig.bots() {
        rows.push(Row::idle(system, process::memory(bot.pid)));
    }
    measure(&rig, &cases(quick), &mut rows).await?;
    rig.stop().await?;
    let rig = Rig::start(&gateway, PACED).await?;
    measure(&rig, &[paced(quick)], &mut rows).await?;
    let settings = rig.settings.clone();
    rig.stop().await?;
    let cores = thread::available_parallelism().map_or(0, usize::from);
    Ok(table::report(
        &rows,
        &settings,
        cores,
        quick,
        began.elapsed(),
    ))
}

async fn measure(rig: &Rig, cases: &[Case], rows: &mut Vec<Row>) -> Result<(), Fault> {
    for (_, bot) in rig.bots() {
        run(&plan(bot, COMMAND, 8, 400, Shape::Window(8))).await?;
    }
    for case in cases {
        for (system, bot) in rig.bots() {
            let plan = plan(bot, case.text, case.users, case.messages, case.shape);
            let outcome = run(&plan).await.map_err(|fault| {
                let (name, log) = (case.name, bot.log());
                format!("{name}, {}: {fault}{log}", system.name())
            })?;
            rows.push(Row::run(case.name, system, outcome, case.messages));
        }
    }
    Ok(())
}

fn plan(bot: &Bot, text: &str, users: usize, messages: usize, shape: Shape) -> Plan {
    Plan {
        target: bot.target.clone(),
        token: None,
        pid: Some(bot.pid),
        users,
        messages,
        shape,
        text: text.to_owned(),
    }
}

/// From the start of a program in an empty folder to its first connection.
async fn starts(gateway: &Path) -> Result<Vec<Row>, Fault> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        let rig = Rig::start(gateway, INSTANT).await?;
        for ((_, bot), times) in rig.bots().into_iter().zip(&mut times) {
            times.push(bot.start);
        }
        rig.stop().await?;
    }
    let systems = [System::Floor, System::Gateway];
    let rows = systems.into_iter().zip(times).map(|(system, mut times)| {
        times.sort_unstable();
        Row::start(system, &times)
    });
    Ok(rows.collect())
}
