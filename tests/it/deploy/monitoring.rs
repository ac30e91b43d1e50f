//! Dashboard and alerts ask for figures that the program has.

use std::{collections::BTreeSet, fs, process::Command};

use serde_json::Value;
use weirgate::{
    reason::Reason,
    telemetry::metrics::{Kind, Metric},
};

use super::{read, texts, yaml};
use crate::gateway::long;

/// What a query may name besides metrics of the gateway.
const OTHERS: [&str; 1] = ["up"];

/// The names in a query that look like those of metrics of the gateway or of its process.
fn named(query: &str) -> BTreeSet<String> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = words.filter(|word| {
        word.starts_with("weirgate_") || word.starts_with("process_") || OTHERS.contains(word)
    });
    ours.map(str::to_owned).collect()
}

/// Says what is wrong with a query: a metric that is not there, or a label that the metric has not.
fn faults(query: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let names = named(query);
    if names.is_empty() {
        faults.push(format!("nothing is asked for: {query}"));
    }
    for name in names.iter().filter(|name| !OTHERS.contains(&name.as_str())) {
        let series = |metric: &&Metric| {
            let spec = metric.spec();
            let histogram = matches!(spec.kind, Kind::Histogram(_));
            let ends: &[&str] = if histogram {
                &["_bucket", "_count", "_sum"]
            } else {
                &[""]
            };
            ends.iter()
                .any(|end| format!("{}{end}", spec.name) == *name)
        };
        let Some(metric) = Metric::ALL.iter().find(series) else {
            faults.push(format!("no metric {name}: {query}"));
            continue;
        };
        let labels = metric.spec().labels;
        let after = query.split(name.as_str()).skip(1);
        let selectors = after.filter_map(|rest| rest.strip_prefix('{')?.split('}').next());
        for selector in selectors {
            for matcher in selector
                .split(',')
                .filter(|matcher| !matcher.trim().is_empty())
            {
                let label = matcher.split(['=', '!']).next().unwrap().trim();
                let known = labels.contains(&label) || ["instance", "job", "le"].contains(&label);
                if !known {
                    faults.push(format!("{name} has no label {label}: {query}"));
                }
            }
        }
        let counter = metric.spec().kind == Kind::Counter;
        let over_time = ["rate(", "increase(", "changes("]
            .iter()
            .any(|call| query.contains(call));
        if counter && !over_time {
            faults.push(format!(
                "{name} only grows and is asked for as it is: {query}"
            ));
        }
    }
    // Reasons are named one by one and must be codes.
    if let Some((_, rest)) = query.split_once("reason=") {
        let codes = rest.trim_start_matches('~').trim_start_matches('"');
        let codes = codes.split('"').next().unwrap().split('|');
        let unknown = codes.filter(|code| Reason::from_code(code).is_none());
        faults.extend(unknown.map(|code| format!("no reason {code}: {query}")));
    }
    faults
}

/// All queries below a value, by the key under which they stand.
fn queries<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| match value {
            Value::String(text) if key == "expr" => found.push(text),
            other => queries(other, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| queries(item, found)),
        _ => {}
    }
}

#[test]
fn alerts_ask_for_what_there_is_and_say_what_to_do() {
    let rules = yaml("deploy/monitoring/alerts.yml").remove(0);
    let rules = rules["groups"][0]["rules"].as_array().unwrap();
    assert!(rules.len() > 8);
    let operations = read("docs/operations.md");
    let mut names = BTreeSet::new();
    for rule in rules {
        let name = rule["alert"].as_str().unwrap();
        assert!(names.insert(name), "{name} twice");
        let wrong = faults(rule["expr"].as_str().unwrap());
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        let severity = rule["labels"]["severity"].as_str().unwrap();
        assert!(["warning", "critical"].contains(&severity), "{name}");
        for text in ["summary", "description"] {
            let told = rule["annotations"][text].as_str().unwrap();
            assert!(told.len() > 20 && told.ends_with('.'), "{name}: {told}");
        }
        assert!(
            operations.contains(name),
            "docs/operations.md says nothing of {name}"
        );
    }
}

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let text = read("deploy/monitoring/grafana/dashboards/weirgate.json");
    let board: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(board["uid"], "weirgate");
    assert!(board["schemaVersion"].as_u64().unwrap() >= 36);
    let panels = board["panels"].as_array().unwrap();
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "an id twice");
        let place = &panel["gridPos"];
        let right = place["x"].as_u64().unwrap() + place["w"].as_u64().unwrap();
        assert!(right <= 24, "{} stands out", panel["title"]);
        if panel["type"] == "row" {
            continue;
        }
        let targets = panel["targets"].as_array().unwrap();
        assert!(!targets.is_empty(), "{}", panel["title"]);
        for target in targets {
            assert_eq!(target["datasource"]["uid"], "${datasource}");
        }
    }
    let mut asked = Vec::new();
    queries(&board, &mut asked);
    let wrong: Vec<String> = asked.iter().flat_map(|query| faults(query)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Whoever adds a metric decides where it is seen.
    let shown: BTreeSet<String> = asked.iter().flat_map(|query| named(query)).collect();
    let hidden = Metric::ALL
        .iter()
        .map(|metric| metric.spec().name)
        .filter(|name| {
            let ends = ["", "_bucket", "_count", "_sum"];
            !ends
                .iter()
                .any(|end| shown.contains(&format!("{name}{end}")))
        });
    let hidden: Vec<&str> = hidden.collect();
    assert_eq!(hidden, ["process_virtual_memory_bytes"]);
}

#[test]
fn a_query_for_what_is_not_there_is_found() {
    for query in [
        "weirgate_lost_total",
        "weirgate_turns_total",
        r#"weirgate_queue_depth{colour="red"}"#,
        r#"rate(weirgate_reasons_total{reason="no_such"}[5m])"#,
        "weirgate_turn_seconds",
        "1 + 1",
    ] {
        assert!(!faults(query).is_empty(), "{query}");
    }
    assert!(faults(r#"weirgate_queue_depth{queue="inbound", lane="direct"} > 5"#).is_empty());
}

#[test]
fn prometheus_and_grafana_find_each_other() {
    let compose = yaml("deploy/docker-compose.yml").remove(0);
    let services = &compose["services"];
    let prometheus = yaml("deploy/monitoring/prometheus.yml").remove(0);
    let job = &prometheus["scrape_configs"][0];
    assert_eq!(
        texts(&job["static_configs"][0]["targets"]),
        ["weirgate:8787"]
    );
    assert_eq!(job["metrics_path"], "/metrics");
    // Relative names start at the folder of the file, where compose mounts them.
    let mounts = texts(&services["prometheus"]["volumes"]);
    for file in [
        job["authorization"]["credentials_file"].as_str().unwrap(),
        texts(&prometheus["rule_files"])[0],
    ] {
        let inside = format!("/etc/prometheus/{file}:ro");
        assert!(
            mounts.iter().any(|mount| mount.ends_with(&inside)),
            "{inside}"
        );
    }
    let source =
        yaml("deploy/monitoring/grafana/provisioning/datasources/prometheus.yml").remove(0);
    let source = &source["datasources"][0];
    assert_eq!(source["url"], "http://prometheus:9090");
    assert_eq!(source["uid"], "prometheus");
    let folder = yaml("deploy/monitoring/grafana/provisioning/dashboards/weirgate.yml").remove(0);
    let folder = folder["providers"][0]["options"]["path"].as_str().unwrap();
    let mounts = texts(&services["grafana"]["volumes"]);
    let mount = format!("./monitoring/grafana/dashboards:{folder}:ro");
    assert!(mounts.contains(&mount.as_str()));
}

/// Prometheus's own tool agrees. `tests/run.sh --long` installs it; elsewhere it is asked where it is.
#[test]
fn the_files_and_the_figures_pass_the_tool_of_prometheus() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["prometheus.yml", "alerts.yml"] {
        let name = format!("deploy/monitoring/{file}");
        fs::write(folder.path().join(file), read(&name)).unwrap();
    }
    fs::write(folder.path().join("admin_token"), "a token").unwrap();
    let figures = folder.path().join("metrics");
    fs::write(&figures, weirgate::telemetry::metrics::install().render()).unwrap();
    let tool = |arguments: &[&str]| {
        let mut command = Command::new("promtool");
        command.args(arguments).current_dir(folder.path());
        command.stdin(fs::File::open(&figures).unwrap()).output()
    };
    // It reads the rules that the configuration names.
    let Ok(checked) = tool(&["check", "config", "prometheus.yml"]) else {
        assert!(
            !long(),
            "promtool is missing (Debian: apt-get install prometheus)"
        );
        return;
    };
    let told = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(
        checked.status.success() && told.contains("rules found"),
        "{checked:?}"
    );
    let linted = tool(&["check", "metrics"]).unwrap();
    assert!(
        linted.status.success(),
        "{}",
        String::from_utf8_lossy(&linted.stderr)
    );
}
