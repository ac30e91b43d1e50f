use proptest::prelude::*;

use super::*;
use crate::agent::skill::template::pattern::Values;

const HEAD: &str = "name: orders\ndescription: What orders is for.\n";

fn of(more: &str) -> Result<Skill, Fault> {
    read(None, "orders", &format!("{HEAD}{more}"))
}

/// A template with a step for each letter: `.` as it is, `s` with stop_if_success, `c` that goes on after a failure, and `f`
/// with stop_if_success that does not.
pub(in crate::agent::skill::template) fn template(letters: &str) -> Arc<Template> {
    let steps: String = letters
        .chars()
        .map(|letter| {
            let more = match letter {
                's' => ", on_result: stop_if_success",
                'c' => ", on_error: continue",
                'f' => ", on_result: stop_if_success, on_error: stop",
                _ => "",
            };
            format!("  - {{type: llm, prompt: go{more}}}\n")
        })
        .collect();
    of(&format!("steps:\n{steps}")).unwrap().steps.unwrap()
}

/// A template with these inputs.
pub(in crate::agent::skill::template) fn of_inputs(inputs: &str) -> Arc<Template> {
    let text = format!("inputs: {inputs}\nsteps: [{{type: llm, prompt: go}}]\n");
    of(&text).unwrap().steps.unwrap()
}

fn problems(more: &str) -> Vec<String> {
    match of(more) {
        Err(Fault::Steps { problems }) => problems,
        other => panic!("{other:?}"),
    }
}

const WHOLE: &str = r#"
rights: admin
version: 1.2
timeout: 60
inputs:
  required: [order]
  properties:
    order: {type: integer, minimum: 1}
    note: {type: string, default: "none"}
steps:
  - id: find
    type: tool
    tool: lookup
    args:
      order: "{{inputs.order}}"
      more: {deep: ["{{inputs.note}}", 5, true, "5", null]}
    on_result: stop_if_success
  - type: agent
    agent: clerk
    task: Look at {{inputs.order}}.
  - id: other
    type: agent
    agent: agent__shop__buyer
    task: "{{steps.find}}"
    action: look
    args: {x: 1.5}
  - type: llm
    prompt: |
      Sum up:
      {{steps.2}}
      {{steps.other}}
"#;

#[test]
fn what_is_written_is_read_with_its_types() {
    let skill = of(WHOLE).unwrap();
    let needed = ["run_skill", "lookup", "delegate", "agent__shop__buyer"];
    assert_eq!(skill.tools, needed);
    assert_eq!(skill.about, [("version", "1.2".to_owned())]);
    let template = skill.steps.unwrap();
    assert_eq!(template.timeout, Duration::from_secs(60));
    let ids: Vec<&str> = template.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["find", "2", "other", "4"]);
    assert_eq!(template.steps[0].on_result, OnResult::StopIfSuccess);
    assert_eq!(template.steps[0].on_error, OnError::Continue);
    assert_eq!(template.steps[1].on_error, OnError::Stop);
    let given = json!({ "order": 7 });
    let inputs = template.filled(given.as_object().unwrap()).unwrap();
    let values = Values {
        inputs: &inputs,
        came: &[],
    };
    let Does::Tool { args, .. } = &template.steps[0].does else {
        panic!("{:?}", template.steps[0]);
    };
    let filled = super::super::filled(args, values).unwrap();
    let wanted = json!({ "order": 7, "more": { "deep": ["none", 5, true, "5", null] } });
    assert_eq!(Value::Object(filled), wanted);
    for wrong in [
        json!({}),
        json!({ "order": "7" }),
        json!({ "order": 7, "x": 1 }),
    ] {
        assert!(
            template.filled(wrong.as_object().unwrap()).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn every_fault_is_told_at_once_with_its_place() {
    let told = problems(
        "colour: red\ninputs:\n  properties: {a: {type: strin}}\nsteps:\n  - type: llm\n    prompt: \"{{inputs.a}} {{inputs.c}}\"\n",
    );
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].starts_with("steps.yaml:3:1: colour: unknown key"),
        "{told:?}"
    );
    assert!(told[1].starts_with("steps.yaml:5:3: inputs: "), "{told:?}");
    assert!(
        told[2].ends_with("steps[0].prompt: there is no input c"),
        "{told:?}"
    );
    let told = problems(
        "inputs: {properties: {a: {type: string}}}\nsteps:\n  - {type: tol}\n  - type: tool\n    tol: x\n    args: {x: \"{{inputs.b}}\", \
         y: [\"{{steps.9}}\"]}\n  - {id: \"1\", type: llm, prompt: \"{{\"}\n",
    );
    let all = told.join("\n");
    for place in [
        "steps.yaml:5:12: steps[0].type: \"tol\" is none of",
        "steps.yaml:6:5: steps[1].tool: a value is missing",
        "steps.yaml:7:5: steps[1].tol: unknown key",
        "steps.yaml:8:15: steps[1].args.x: there is no input b",
        "steps.yaml:8:35: steps[1].args.y[0]: there is no step 9 before this one",
        "steps.yaml:9:10: steps[2].id: another step is called 1",
        "steps[2].prompt: {{ has no }} behind it",
    ] {
        assert!(all.contains(place), "{place} is not in\n{all}");
    }
}

#[test]
fn limits_and_what_no_step_may_do_are_faults() {
    let step = "  - {type: llm, prompt: go}\n";
    let many = format!("steps:\n{}", step.repeat(MAX_STEPS + 1));
    for (more, part) in [
        (many.as_str(), "1 step to 20"),
        ("steps: []", "1 step to 20"),
        ("", "steps: a value is missing"),
        ("timeout: 0\nsteps: [{type: llm, prompt: x}]", "timeout"),
        ("rights: king\nsteps: [{type: llm, prompt: x}]", "rights"),
        ("inputs: []\nsteps: [{type: llm, prompt: x}]", "JSON Schema"),
        (
            "inputs: {properties: {a: {type: integer, default: x}}}\nsteps: [{type: llm, prompt: x}]",
            "a default does not fit",
        ),
        ("steps: [{type: tool, tool: run_skill}]", "steps do not run"),
        ("steps: [{type: tool, tool: delegate}]", "type: agent"),
        (
            "steps: [{type: agent, agent: clerk, task: x, action: y}]",
            "only agents by others",
        ),
        ("steps: [{type: llm, prompt: ''}]", "a value is missing"),
        ("steps: [{type: llm, prompt: x, tool: y}]", "unknown key"),
        ("steps: [{type: llm, prompt: x, id: a.b}]", "a name has"),
        (
            "steps: [{type: llm, prompt: x, on_result: retry}]",
            "on_result",
        ),
        ("steps: [", "steps.yaml:3"),
        (
            "a: &x 1\nb: *x\nsteps: [{type: llm, prompt: x}]",
            "unknown key",
        ),
    ] {
        let told = problems(more).join("\n");
        assert!(told.contains(part), "{more}: {told}");
    }
    let other = read(
        None,
        "other",
        &format!("{HEAD}steps: [{{type: llm, prompt: x}}]"),
    );
    assert!(
        format!("{other:?}").contains("not that of the folder"),
        "{other:?}"
    );
    let faults = format!(
        "steps: [{{type: llm, prompt: x}}]\n{}",
        (0..30).map(|n| format!("k{n}: 1\n")).collect::<String>()
    );
    assert_eq!(problems(&faults).len(), MOST_TOLD + 1);
}

#[test]
fn what_the_docs_show_and_the_example_can_be_read() {
    let docs = include_str!("../../../../../docs/skills.md");
    let shown = docs
        .split("```yaml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let skill = read(None, "order-report", shown.unwrap()).unwrap();
    assert_eq!(skill.steps.unwrap().steps.len(), 5);
    let example = include_str!("../../../../../examples/skills/page-digest/steps.yaml");
    let skill = read(None, "page-digest", example).unwrap();
    assert_eq!(skill.tools, ["run_skill", "fetch_page"]);
}

proptest! {
    #[test]
    fn no_text_breaks_the_checker(more in "[a-z:{}\\[\\], \\n\"&*|-]{0,200}") {
        let _ = of(&more);
        let _ = of(&format!("steps:\n  - {more}"));
    }
}
