//! The files agree with the program and with each other.

use std::{fs, process::Command, time::Duration};

use serde_json::Value;
use weirgate::app::DRAIN;

use super::{path, read, texts, yaml};

/// The user in the image.
const USER: u64 = 10_001;

/// The program's verdict over a configuration in a folder with the operator's secrets.
fn checked(folder: &std::path::Path, file: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_weirgate"))
        .args(["check", file])
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("QQ_TOKEN", "token-of-the-account-0123")
        .output()
        .unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn seconds(text: &str) -> Duration {
    Duration::from_secs(text.trim_end_matches('s').parse().unwrap())
}

/// The value of a key of a unit file.
fn unit<'a>(text: &'a str, key: &str) -> &'a str {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("no {key}"))
}

#[test]
fn the_shipped_configurations_pass_the_check() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("admin_token"),
        "token-of-metrics-0123456",
    )
    .unwrap();
    for file in [
        "deploy/config/agent.yaml",
        "deploy/config/napcat.yaml",
        "deploy/image/agent.yaml",
    ] {
        fs::write(folder.path().join("agent.yaml"), read(file)).unwrap();
        let verdict = checked(folder.path(), "agent.yaml");
        assert_eq!(verdict.trim(), "agent.yaml: ok", "{file}");
    }
    let map = &yaml("deploy/k8s/weirgate.yaml")[0]["data"]["agent.yaml"];
    let token = folder.path().join("admin_token").display().to_string();
    let text = map.as_str().unwrap();
    let text = text.replace("/run/secrets/weirgate/admin_token", &token);
    fs::write(folder.path().join("agent.yaml"), text).unwrap();
    assert_eq!(
        checked(folder.path(), "agent.yaml").trim(),
        "agent.yaml: ok"
    );
}

#[test]
fn the_commented_model_of_the_configuration_passes_too() {
    let text = read("deploy/config/agent.yaml");
    let (head, example) = text.split_once("# providers:").unwrap();
    let example = format!("# providers:{example}")
        .replace("\n# ", "\n")
        .replacen("# ", "", 1);
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("admin_token"),
        "token-of-metrics-0123456",
    )
    .unwrap();
    let example = example.replace("${MODEL_API_KEY}", "key-of-the-model-0123");
    fs::write(folder.path().join("agent.yaml"), format!("{head}{example}")).unwrap();
    assert_eq!(
        checked(folder.path(), "agent.yaml").trim(),
        "agent.yaml: ok"
    );
}

#[test]
fn the_examples_for_operators_pass_too() {
    let text = read("docs/operations.md");
    let examples: Vec<&str> = text.split("```yaml\n").skip(1).collect();
    assert!(examples.len() >= 2);
    for example in examples {
        let example = example.split("```").next().unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("agent.yaml"), example).unwrap();
        let verdict = checked(folder.path(), "agent.yaml");
        assert_eq!(verdict.trim(), "agent.yaml: ok", "{example}");
    }
}

#[test]
fn everybody_waits_longer_than_a_drain_takes() {
    let compose = &yaml("deploy/docker-compose.yml")[0]["services"]["weirgate"];
    let unit_file = read("deploy/systemd/weirgate.service");
    let set = &yaml("deploy/k8s/weirgate.yaml")[2];
    let pod = &set["spec"]["template"]["spec"]["terminationGracePeriodSeconds"];
    let patience = [
        seconds(compose["stop_grace_period"].as_str().unwrap()),
        seconds(unit(&unit_file, "TimeoutStopSec")),
        Duration::from_secs(pod.as_u64().unwrap()),
    ];
    for patience in patience {
        assert!(
            patience >= DRAIN + Duration::from_secs(10),
            "{patience:?}, a drain takes {DRAIN:?}"
        );
    }
    let told = format!("({} s)", DRAIN.as_secs());
    for file in [
        "deploy/docker-compose.yml",
        "deploy/systemd/weirgate.service",
        "deploy/k8s/weirgate.yaml",
    ] {
        assert!(read(file).contains(&told), "{file} does not say {told}");
    }
}

#[test]
fn the_container_has_no_rights_that_it_does_not_need() {
    let compose = yaml("deploy/docker-compose.yml").remove(0);
    let gateway = &compose["services"]["weirgate"];
    assert_eq!(gateway["read_only"], true);
    assert_eq!(texts(&gateway["cap_drop"]), ["ALL"]);
    assert_eq!(texts(&gateway["security_opt"]), ["no-new-privileges:true"]);
    assert!(
        gateway["user"]
            .as_str()
            .unwrap()
            .contains(&format!("{USER}:{USER}"))
    );
    assert!(gateway.get("privileged").is_none() && gateway.get("network_mode").is_none());
    for (name, service) in compose["services"].as_object().unwrap() {
        let ports = service.get("ports").map(texts).unwrap_or_default();
        assert!(
            ports.iter().all(|port| port.starts_with("127.0.0.1:")),
            "{name}: {ports:?}"
        );
        let own = name == "weirgate";
        assert_eq!(
            service.get("profiles").is_none(),
            own,
            "{name} has a profile"
        );
    }
    let profiles: Vec<&str> = ["postgres", "napcat", "prometheus", "grafana"]
        .map(|name| texts(&compose["services"][name]["profiles"])[0])
        .into();
    assert_eq!(profiles, ["postgres", "napcat", "monitoring", "monitoring"]);
    // A volume that a service names is declared.
    for (name, service) in compose["services"].as_object().unwrap() {
        for volume in service.get("volumes").map(texts).unwrap_or_default() {
            let source = volume.split(':').next().unwrap();
            let known = if source.starts_with("./") {
                path("deploy").join(source).exists() || source == "./config/admin_token"
            } else {
                compose["volumes"].get(source).is_some()
            };
            assert!(known, "{name}: {volume}");
        }
    }
}

#[test]
fn the_image_runs_as_its_own_user_with_the_health_check_of_the_program() {
    let file = read("deploy/Dockerfile");
    let has = |line: &str| assert!(file.lines().any(|own| own == line), "no {line}");
    has("FROM scratch");
    has(&format!("USER {USER}:{USER}"));
    has(r#"ENTRYPOINT ["/usr/bin/weirgate"]"#);
    has("VOLUME /var/lib/weirgate");
    let check = file
        .lines()
        .find(|line| line.starts_with("HEALTHCHECK"))
        .unwrap();
    let (_, command) = check.split_once("CMD ").unwrap();
    let command: Vec<String> = serde_json::from_str(command).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_weirgate"))
        .args(&command[1..])
        .arg("--help")
        .status();
    assert!(help.unwrap().success(), "{command:?} is no command");
    let configuration = yaml("deploy/image/agent.yaml").remove(0);
    let listen = configuration["http"]["listen"].as_str().unwrap();
    let (_, port) = listen.rsplit_once(':').unwrap();
    has(&format!("EXPOSE {port}"));
    let toolchain = read("rust-toolchain.toml");
    let version = toolchain
        .lines()
        .find_map(|line| line.strip_prefix("channel = \""))
        .unwrap();
    let version = version.trim_end_matches('"');
    let short: Vec<&str> = version.split('.').take(2).collect();
    let builder = format!("rust:{}-slim-bookworm", short.join("."));
    assert!(
        file.contains(&builder) && read("deploy/docker-compose.yml").contains(&builder),
        "{builder}"
    );
}

#[test]
fn kubernetes_mounts_what_the_configuration_names_and_asks_what_is_served() {
    let documents = yaml("deploy/k8s/weirgate.yaml");
    let kinds: Vec<&str> = documents
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["ConfigMap", "Service", "StatefulSet"]);
    let pod = &documents[2]["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsUser"], USER);
    assert_eq!(pod["securityContext"]["fsGroup"], USER);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let container = &pod["containers"][0];
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(
        container["securityContext"]["allowPrivilegeEscalation"],
        false
    );
    let probe = |name: &str| {
        container[name]["httpGet"]["path"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        ["startupProbe", "readinessProbe", "livenessProbe"].map(probe),
        ["/readyz", "/readyz", "/healthz"]
    );
    let declared = |name: &Value| {
        let volumes = pod["volumes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|volume| &volume["name"]);
        let claims = documents[2]["spec"]["volumeClaimTemplates"]
            .as_array()
            .unwrap();
        let claims = claims.iter().map(|claim| &claim["metadata"]["name"]);
        volumes.chain(claims).any(|known| known == name)
    };
    let mounts = container["volumeMounts"].as_array().unwrap();
    assert!(mounts.iter().all(|mount| declared(&mount["name"])));
    // One pod: a second one must never open the same file.
    assert_eq!(documents[2]["spec"]["replicas"], 1);
}

#[test]
fn the_unit_is_sound_for_the_tools_that_are_here() {
    let text = read("deploy/systemd/weirgate.service");
    assert_eq!(unit(&text, "ExecStart"), "/usr/local/bin/weirgate run");
    assert_eq!(
        unit(&text, "RestartPreventExitStatus"),
        weirgate::config::EXIT_CONFIG.to_string()
    );
    for (key, value) in [
        ("Type", "notify"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("CapabilityBoundingSet", ""),
        ("StateDirectory", "weirgate"),
    ] {
        assert_eq!(unit(&text, key), value, "{key}");
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("weirgate.service");
    let own = text.replace("/usr/local/bin/weirgate", env!("CARGO_BIN_EXE_weirgate"));
    fs::write(&copy, own).unwrap();
    let tool = |arguments: &[&str]| {
        Command::new("systemd-analyze")
            .args(arguments)
            .arg(&copy)
            .output()
    };
    // Machines without systemd cannot say anything about it; what is above holds there too.
    let Ok(verified) = tool(&["verify", "--man=no"]) else {
        return;
    };
    let told = String::from_utf8_lossy(&verified.stderr).into_owned();
    let about_ours: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("weirgate.service"))
        .collect();
    assert!(about_ours.is_empty(), "{about_ours:?}");
    let graded = tool(&["security", "--offline=true", "--threshold=20"]).unwrap();
    assert!(
        graded.status.success(),
        "{}",
        String::from_utf8_lossy(&graded.stdout)
    );
}

#[test]
fn preparing_makes_secrets_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("config")).unwrap();
    fs::copy(path("deploy/prepare.sh"), folder.path().join("prepare.sh")).unwrap();
    let prepare = || {
        let done = Command::new("sh")
            .arg(folder.path().join("prepare.sh"))
            .status();
        assert!(done.unwrap().success());
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        (read(".env"), read("config/admin_token"))
    };
    let (env, token) = prepare();
    assert_eq!(token.len(), 48);
    assert!(
        env.contains("WEIRGATE_CONFIG=/etc/weirgate/agent.yaml"),
        "{env}"
    );
    assert!(env.contains("# WEIRGATE_STORAGE_URL=postgres://weirgate:"));
    assert_eq!(prepare(), (env, token), "what is there stays");
}
