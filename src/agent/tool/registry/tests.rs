use async_trait::async_trait;
use serde_json::json;

use super::*;
use crate::agent::{
    model::PER_TOOL,
    tool::{Call, Fault, Given},
};

struct Named(Spec);

#[async_trait]
impl Tool for Named {
    fn spec(&self) -> &Spec {
        &self.0
    }

    async fn run(&self, _: Call<'_>) -> Result<Given, Fault> {
        Ok(Given::own(""))
    }
}

fn tool(name: &str, about: &str) -> Arc<dyn Tool> {
    Arc::new(Named(Spec::reading(name, about, json!({"type": "object"}))))
}

#[test]
fn names_and_schemas_that_no_provider_takes_are_refused() {
    let mut registry = Registry::of(
        &config::Tools::default(),
        Ground {
            workspaces: PathBuf::from("/nowhere"),
            programs: PathBuf::from("/nowhere"),
            servers: PathBuf::from("/nowhere"),
            skills: PathBuf::from("/nowhere"),
            agents: PathBuf::from("/nowhere"),
            blocked: Vec::new(),
            private: Vec::new(),
        },
        &Pool::default(),
    )
    .unwrap();
    assert!(registry.add(tool("fine-1_a", "")).is_ok());
    for name in ["", "fine-1_a", "date_time", "a.b", "天气", &"x".repeat(65)] {
        assert!(registry.add(tool(name, "")).is_err(), "{name}");
    }
    let odd = Spec::reading("odd", "", json!({"type": "string"}));
    assert!(registry.add(Arc::new(Named(odd))).is_err());
}

#[test]
fn of_too_many_those_that_fit_are_offered_in_their_order() {
    let mut registry = Registry {
        most: 2,
        ..Registry::default()
    };
    for (name, about) in [
        ("alpha", "tells the weather 天气预报"),
        ("beta", "draws a picture"),
        ("gamma", "finds a train"),
    ] {
        registry.add(tool(name, about)).unwrap();
    }
    fn wanted<'a>(said: &'a str, used: &'a [String], tokens: usize) -> Wanted<'a> {
        Wanted { said, used, tokens }
    }
    let names = |offers: &Offers| -> Vec<String> {
        offers
            .tools
            .iter()
            .map(|offer| offer.name.clone())
            .collect()
    };
    let offered = |said: &str, used: &[String]| {
        names(&registry.offers(|_| true, wanted(said, used, usize::MAX)))
    };
    assert_eq!(
        offered("which train has good weather?", &[]),
        ["alpha", "gamma"]
    );
    assert_eq!(
        offered("明天天气怎么样", &["gamma".into()]),
        ["alpha", "gamma"]
    );
    assert_eq!(offered("use beta", &["gamma".into()]), ["beta", "gamma"]);
    let none = registry.offers(|_| false, wanted("train", &[], usize::MAX));
    assert!(none.tools.is_empty() && none.tokens == 0);
    // There is room for one: the one that fits.
    let two = registry.offers(|_| true, wanted("weather", &[], usize::MAX));
    let one = registry.offers(|_| true, wanted("weather", &[], two.tokens * 2 / 3));
    assert_eq!(names(&one), ["alpha"]);
    assert!(one.tokens < two.tokens && one.tokens > PER_TOOL);
}
