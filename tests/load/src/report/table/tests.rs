use std::time::Duration;

use super::{Row, System, report};
use crate::{
    run::Outcome,
    tally::{Counts, Latency},
};

fn outcome(per_second: f64, p50: f64, cpu_us: Option<f64>) -> Outcome {
    Outcome {
        answered: 10,
        seconds: 1.0,
        per_second,
        latency_ms: Latency {
            p50,
            ..Latency::default()
        },
        counts: Counts::default(),
        cpu_us,
        memory_max: Some(3 << 20),
        memory_last: Some(2 << 20),
    }
}

#[test]
fn the_gateway_is_compared_with_the_floor_of_its_case() {
    let rows = [
        Row::run("a", System::Floor, outcome(1_000.0, 1.0, Some(10.0)), 10),
        Row::run("a", System::Gateway, outcome(500.0, 3.0, Some(25.0)), 10),
        Row::run("b", System::Gateway, outcome(500.0, 3.0, None), 10),
    ];
    let text = report(&rows, "a: 1\n", 2, true, Duration::from_secs(1));
    let ends = |start: &str| {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap();
        line.rsplitn(6, " | ")
            .take(5)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let compared = ends("| a (10 messages) | gateway |");
    assert_eq!(
        compared,
        ["1.00× |", "2.50×", "3.00×", "0.50×", "0 / 0 / 0 / 0"]
    );
    assert_eq!(
        ends("| b (10 messages) | gateway |")[..4],
        ["– |", "–", "–", "–"]
    );
    assert_eq!(
        ends("| a (10 messages) | floor |")[..4],
        ["– |", "–", "–", "–"]
    );
    assert!(text.ends_with("```yaml\na: 1\n```\n"));
}

#[test]
fn every_line_has_as_many_cells_as_the_head() {
    let rows = [
        Row::start(System::Floor, &[Duration::from_millis(5)]),
        Row::idle(System::Gateway, None),
        Row::run("a", System::Floor, outcome(1.0, 1.0, None), 10),
    ];
    let text = report(&rows, "", 2, false, Duration::ZERO);
    let cells: Vec<usize> = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.matches('|').count())
        .collect();
    assert_eq!(cells, [16; 5]);
}
