//! After any sequence of saves, good and bad, in any manner, the last good one is in force.

use std::{fs, io::Write as _};

use serde_json::json;
use weirgate_testkit::model::FakeModel;

use super::{ask, prompt, rename_over, started, total};
use crate::gateway::{Gateway, LIMIT, long};

/// Numbers that are the same in every run, and look like none.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

/// Saves a text in one of the ways in which files are saved.
fn save(gateway: &Gateway, manner: u64, text: &str) {
    let path = gateway.folder().join("agent.yaml");
    match manner {
        0 => gateway.write("agent.yaml", text),
        1 => rename_over(gateway, text),
        2 => {
            let mut file = fs::File::create(&path).unwrap();
            for piece in text.as_bytes().chunks(100) {
                file.write_all(piece).unwrap();
            }
        }
        _ => {
            fs::remove_file(&path).unwrap();
            gateway.write("agent.yaml", text);
        }
    }
}

#[tokio::test]
async fn the_last_good_configuration_is_in_force() {
    let model = FakeModel::start().await;
    let gateway = started(&model, prompt("start")).await;
    let fake = gateway.onebot().await;
    let mut dice = Dice(20_261_201);
    let mut good = "start".to_owned();
    let steps = if long() { 60 } else { 12 };
    for step in 0..steps {
        let before = total(&gateway).await;
        let name = format!("step {step}");
        let text = match dice.roll(6) {
            0 => format!("context: {{system_prompt: broken {step}"),
            1 => format!("# nothing {step}\n"),
            2 => {
                let mut wrong = prompt(&name);
                wrong["flow_control"] = json!({ "turn_timeout": "soon" });
                gateway.configuration(&model, wrong)
            }
            _ => {
                good.clone_from(&name);
                gateway.configuration(&model, prompt(&name))
            }
        };
        save(&gateway, dice.roll(4), &text);
        let taken = async {
            while total(&gateway).await == before {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        let in_time = tokio::time::timeout(LIMIT, taken).await;
        assert!(in_time.is_ok(), "step {step}: {}", gateway.log());
        assert_eq!(ask(&model, &fake).await, good, "step {step}");
        assert_eq!(total(&gateway).await, before + 1, "step {step}");
    }
    // Many at once: the last one stands, whatever was seen of the others.
    for step in 0..20 {
        save(&gateway, dice.roll(4), "language: [");
        good = format!("burst {step}");
        save(
            &gateway,
            dice.roll(4),
            &gateway.configuration(&model, prompt(&good)),
        );
    }
    let answer = gateway.post_with("/admin/reload", &[]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(ask(&model, &fake).await, good);
}
