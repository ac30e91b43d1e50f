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

#[test]
fn what_is_written_in_chinese_finds_the_gateways_own_tools() {
    let ground = Ground {
        workspaces: PathBuf::from("/nowhere"),
        programs: PathBuf::from("/nowhere"),
        servers: PathBuf::from("/nowhere"),
        skills: PathBuf::from("/nowhere"),
        agents: PathBuf::from("/nowhere"),
        blocked: Vec::new(),
        private: Vec::new(),
    };
    let mut registry = Registry::of(&config::Tools::default(), ground, &Pool::default()).unwrap();
    // Those that read and run skills are always among them.
    registry.most = 5;
    for (said, tool) in [
        ("帮我翻译成英文：早上好", "translate"),
        ("明天早上八点提醒我开会", "schedule"),
        ("把这份报告生成一个文档", "office_write"),
        ("打开这个链接看看文章说了什么", "fetch_page"),
        ("算一下 12 乘 7 等于多少", "calculate"),
    ] {
        let wanted = Wanted {
            said,
            used: &[],
            tokens: usize::MAX,
        };
        let offers = registry.offers(|_| true, wanted);
        assert!(offers.has(tool), "{said}: {:?}", offers.tools);
    }
    // Each of those that are named exists.
    let named: Vec<&str> = built_in_names().collect();
    for name in ["date_time", "delegate", "send_file"] {
        assert!(named.contains(&name) && !words::besides(name).is_empty());
    }
    let all = named.iter().filter(|name| !words::besides(name).is_empty());
    assert_eq!(
        all.count(),
        words::CHINESE.len(),
        "none is known that is not there"
    );
}
