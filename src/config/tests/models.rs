//! `providers` and `models`.

use std::time::Duration;

use weirgate_sdk::settings::Severity;

use super::{complaints, paths, read, read_all};
use crate::agent::model::config::{ModelRef, Models, ProviderKind};

const MAIN: &str = "providers: {main: {kind: openai, base_url: \"https://a.example/v1/\"}}\n";

#[test]
fn a_provider_has_the_defaults_of_its_kind() {
    let config = read(&format!("{MAIN}models: {{chat: [main/org/model-1]}}"));
    let provider = &config.providers["main"];
    assert_eq!(provider.kind, ProviderKind::OpenAi);
    assert_eq!(provider.base_url.as_deref(), Some("https://a.example/v1"));
    assert_eq!((provider.rpm, provider.think_tags), (None, false));
    assert_eq!(provider.timeout, Duration::from_secs(60));
    assert_eq!(provider.connect_timeout, Duration::from_secs(10));
    assert!(!config.providers.contains_key("demo"));
    let chosen = ModelRef {
        provider: "main".to_owned(),
        model: "org/model-1".to_owned(),
    };
    let models = Models {
        chat: vec![chosen],
        ..Models::default()
    };
    assert_eq!(config.models, models);
    let demo = read("providers: {demo: {kind: demo}}\nmodels: {chat: [demo/demo]}");
    assert_eq!(demo.providers["demo"].rpm, Some(0));
}

#[test]
fn providers_without_a_choice_of_model_say_what_to_write() {
    assert_eq!(
        complaints(MAIN),
        ["t:1:1: models.chat: a value is missing \
         | write models: {chat: [main/<name of the model>]}"]
    );
}

#[test]
fn a_model_names_a_provider_that_is_there() {
    let told = complaints(&format!(
        "{MAIN}models: {{chat: [mian/m, other/m, main, main/, /m]}}"
    ));
    assert_eq!(
        told,
        [
            "t:2:17: models.chat[0]: no such provider | did you mean main/m?",
            "t:2:25: models.chat[1]: no such provider | write it under providers: other: {kind: ...}",
            "t:2:34: models.chat[2]: a model is named <provider>/<model>",
            "t:2:40: models.chat[3]: a model is named <provider>/<model>",
            "t:2:47: models.chat[4]: a model is named <provider>/<model>",
        ]
    );
    assert_eq!(
        paths("models: {chat: []}", Severity::Error),
        ["models.chat"]
    );
    assert_eq!(
        paths("models: {chat: demo/demo}", Severity::Error),
        ["models.chat"]
    );
}

#[test]
fn kinds_take_their_own_keys_only() {
    let cases = [
        ("kind: anthropic", "providers.p.base_url"),
        ("kind: openai-responses", "providers.p.base_url"),
        (
            "kind: openai, base_url: \"https://a.example\", models: {m: {reasoning: true}}",
            "providers.p.models.m.reasoning",
        ),
        (
            "kind: anthropic, base_url: \"https://a.example\", models: {m: {audio: true}}",
            "providers.p.models.m.audio",
        ),
        (
            "kind: openai, base_url: \"https://a.example\", models: {m: {reasoning_summary: true}}",
            "providers.p.models.m.reasoning_summary",
        ),
        (
            "kind: openai-responses, base_url: \"https://a.example\", models: {m: {reasoning_budget: 2000}}",
            "providers.p.models.m.reasoning_budget",
        ),
        (
            "kind: anthropic, base_url: \"https://a.example\", models: {m: {limit_name: max_completion_tokens}}",
            "providers.p.models.m.limit_name",
        ),
        (
            "kind: openia, base_url: \"https://a.example\"",
            "providers.p.kind",
        ),
        ("base_url: \"https://a.example\"", "providers.p.kind"),
        ("kind: openai", "providers.p.base_url"),
        (
            "kind: demo, base_url: \"https://a.example\"",
            "providers.p.base_url",
        ),
        ("kind: demo, api_key: 0123456789", "providers.p.api_key"),
        (
            "kind: demo, models: {m: {temprature: 1}}",
            "providers.p.models.m.temprature",
        ),
    ];
    for (keys, path) in cases {
        let text = format!("providers: {{p: {{{keys}}}}}\nmodels: {{chat: [p/m]}}");
        assert_eq!(paths(&text, Severity::Error), [path], "{keys}");
    }
}

#[test]
fn a_key_that_would_travel_in_the_clear_draws_a_warning() {
    let warned = |url: &str| {
        let text = format!(
            "providers: {{p: {{kind: openai, base_url: \"{url}\", api_key: sk-0123456789}}}}\n\
             models: {{chat: [p/m]}}"
        );
        paths(&text, Severity::Warning).len() == 1
    };
    assert!(warned("http://api.example.com/v1"));
    assert!(!warned("https://api.example.com/v1"));
    assert!(!warned("http://127.0.0.1:11434/v1") && !warned("http://ollama:11434/v1"));
}

#[test]
fn choices_roles_and_prices_are_read_and_checked() {
    let good = read(
        "providers: {main: {kind: openai, base_url: \"https://a.example/v1/\", models: {m: {price: {input: 0.5, output: 2}}}}}\n\
         models: {chat: [main/m], choices: [main/n], roles: {guest: [main/n]}, currency: CNY, embed: main/e}",
    );
    let price = good.providers["main"].models["m"].price.unwrap();
    assert!((price.input - 0.5).abs() < f64::EPSILON && (price.output - 2.0).abs() < f64::EPSILON);
    let named = |model: &str| ModelRef {
        provider: "main".to_owned(),
        model: model.to_owned(),
    };
    assert_eq!(good.models.choices, [named("n")]);
    assert_eq!(good.models.roles["guest"], [named("n")]);
    assert_eq!(good.models.embed, Some(named("e")));
    assert_eq!(good.models.currency, "CNY");
    for (models, path) in [
        ("roles: {guest: [main/other]}", "models.roles.guest"),
        ("roles: {nobody: [main/m]}", "models.roles.nobody"),
        ("embed: gone/e", "models.embed"),
        ("choices: [m]", "models.choices[0]"),
    ] {
        let text = format!("{MAIN}models: {{chat: [main/m], {models}}}");
        assert_eq!(paths(&text, Severity::Error), [path], "{models}");
    }
    assert_eq!(
        paths("models: {embed: demo/demo}", Severity::Error),
        ["models.embed"]
    );
}

#[test]
fn who_summarises_is_a_provider_or_a_model_of_it() {
    let of = |id: &str| {
        let text =
            format!("{MAIN}models: {{chat: [main/m]}}\ncontext: {{compress_provider_id: {id}}}");
        (
            read_all(&text).0.unwrap().context.compress_provider_id,
            paths(&text, Severity::Error),
        )
    };
    let (main, none) = (of("main"), of("\"\""));
    assert_eq!(main.0.map(|model| model.model).as_deref(), Some("m"));
    assert_eq!(none.0, None);
    assert_eq!(
        of("main/small").0.map(|model| model.model).as_deref(),
        Some("small")
    );
    assert_eq!(of("gone").1, ["context.compress_provider_id"]);
    assert_eq!(of("gone/m").1, ["context.compress_provider_id"]);
}

#[test]
fn what_is_said_of_a_model_that_reasons_goes_together() {
    let wrong = |options: &str| {
        let provider = "kind: anthropic, base_url: \"https://a.example\"";
        let text = format!(
            "providers: {{p: {{{provider}, models: {{m: {{{options}}}}}}}}}\nmodels: {{chat: [p/m]}}"
        );
        paths(&text, Severity::Error)
    };
    for options in [
        "reasoning: true",
        "reasoning: true, reasoning_summary: true, max_output_tokens: 100",
        "reasoning_budget: 2000, reasoning_summary: true",
        "reasoning_budget: 2000, max_output_tokens: 2001",
        "temperature: 0.5, reasoning_budget: 0",
    ] {
        assert_eq!(wrong(options), [""; 0], "{options}");
    }
    for (options, key) in [
        ("reasoning_budget: 1000", "reasoning_budget"),
        (
            "reasoning_budget: 2000, reasoning: true",
            "reasoning_budget",
        ),
        (
            "reasoning_budget: 2000, max_output_tokens: 2000",
            "reasoning_budget",
        ),
        ("reasoning_summary: true", "reasoning_summary"),
        ("reasoning: true, temperature: 1", "temperature"),
        ("reasoning_budget: 2000, temperature: 0", "temperature"),
    ] {
        let path = format!("providers.p.models.m.{key}");
        assert_eq!(wrong(options), [path], "{options}");
    }
}
