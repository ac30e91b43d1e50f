//! What a confined command reaches, and how much it may use.

use std::{
    fs,
    io::Read as _,
    net::{TcpListener, UdpSocket},
    os::unix::fs::{PermissionsExt as _, symlink},
    time::Duration,
};

use serde_json::json;

use super::{Bed, confines};
use crate::gateway::KEY;

/// A command line that says of each of these commands whether it worked.
fn each(commands: &[String]) -> String {
    let tried = commands.iter().enumerate().map(|(number, command)| {
        format!(
            "if ( {command} ) >/dev/null 2>&1; then echo yes {number}; else echo no {number}; fi\n"
        )
    });
    tried.collect()
}

#[tokio::test]
async fn nothing_of_the_machine_is_reached_but_the_systems_programs() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({ "approve": "never" })).await;
    bed.run("true").await;
    let (workspace, folder) = (bed.workspace(), bed.gateway.folder().to_owned());
    symlink(folder.join("agent.yaml"), workspace.join("link")).unwrap();
    symlink(&folder, workspace.join("folder")).unwrap();
    let data = bed.gateway.database();
    let path = |name: &str| folder.join(name).display().to_string();
    let outside = tempfile::tempdir().unwrap();
    let other = outside.path().join("other.txt");
    fs::write(&other, "other").unwrap();
    let process = bed.gateway.process();
    let refused = [
        format!("cat {}", path("agent.yaml")),
        "cat link".to_owned(),
        "ls folder".to_owned(),
        "cat folder/agent.yaml".to_owned(),
        format!("ls {}", path("")),
        format!("cat {}", data.display()),
        format!("ls {}", workspace.parent().unwrap().display()),
        format!("cat /proc/{process}/environ"),
        format!("ls /proc/{process}"),
        "cat /proc/1/cmdline".to_owned(),
        "ls /proc".to_owned(),
        "cat /etc/shadow".to_owned(),
        "ls /etc".to_owned(),
        "ls /root".to_owned(),
        "ls /tmp".to_owned(),
        "ls ~/..".to_owned(),
        format!("cat {}", other.display()),
        format!("echo x > {}", other.display()),
        format!("truncate -s 0 {}", other.display()),
        format!("rm {}", other.display()),
        format!("ln {} here", other.display()),
        format!("mv {} here", other.display()),
        format!("chmod 000 {}", other.display()),
        format!("chmod 000 {}", data.display()),
        format!("chown 1:1 {}", other.display()),
        "echo x > /usr/new".to_owned(),
        "rm /usr/bin/env".to_owned(),
        format!("kill -0 {process}"),
        format!("kill -TERM {process}"),
        format!("kill -KILL -{process}"),
        format!("prlimit --pid {process} --nofile=1:1"),
        "mknod d c 1 1".to_owned(),
        "mount -t tmpfs x .".to_owned(),
        "unshare -r true".to_owned(),
        "chroot . /bin/true".to_owned(),
    ];
    let told = bed.run(&each(&refused)).await;
    for (number, command) in refused.iter().enumerate() {
        assert!(
            told.contains(&format!("no {number}\n")),
            "{command}: {told}"
        );
    }
    assert_eq!(fs::read_to_string(&other).unwrap(), "other");
    assert_ne!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0);
    // The same commands do work where they may, so that none of them is missing.
    let allowed = [
        "echo x > own; cat own; chmod 600 own || true; ln own own2; mv own2 own3; truncate -s 0 own; rm own3",
        "ls /usr/bin; cat /etc/passwd; cat /proc/meminfo",
        "sleep 5 & kill -0 $! && kill -TERM $!",
        "mkfifo f; mkdir d; ls -la .",
        "echo x > /dev/null; head -c 1 /dev/urandom",
    ]
    .map(str::to_owned);
    let told = bed.run(&each(&allowed)).await;
    for (number, command) in allowed.iter().enumerate() {
        assert!(
            told.contains(&format!("yes {number}\n")),
            "{command}: {told}"
        );
    }
}

#[tokio::test]
async fn the_environment_holds_no_secret_and_what_leaks_all_the_same_is_taken_out() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({})).await;
    let told = bed.run("env | sort | cut -d= -f1 | tr '\\n' ' '").await;
    let names = told.lines().find(|line| line.contains("HOME")).unwrap();
    let known = [
        "HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TERM", "TMPDIR", "TZ", "_",
    ];
    let strange: Vec<&str> = names
        .split(' ')
        .filter(|name| !known.contains(name))
        .collect();
    assert!(strange.iter().all(|name| name.is_empty()), "{names}");
    fs::write(bed.workspace().join("key.txt"), KEY).unwrap();
    let told = bed.run("cat key.txt; env -i sh -c env").await;
    assert!(told.contains("[REDACTED]") && !told.contains(KEY), "{told}");
    assert!(!bed.gateway.log().contains(KEY), "also not in the log");
}

/// A command line that tries one kind of socket after the other, in a language that most systems have.
fn sockets(tcp: u16, udp: u16, unix: &str) -> String {
    format!(
        "cat > s.py <<'END'\n\
         import socket\n\
         def tried(name, act):\n\
         \x20   try:\n\
         \x20       act()\n\
         \x20       print('yes', name)\n\
         \x20   except OSError as error:\n\
         \x20       print('no', name)\n\
         def tcp(): socket.create_connection(('127.0.0.1', {tcp}), 5).sendall(b'x')\n\
         def udp(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))\n\
         def listen(): socket.create_server(('127.0.0.1', 0))\n\
         def unix(): socket.socket(socket.AF_UNIX).connect('{unix}')\n\
         def raw(): socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n\
         for act in [tcp, udp, listen, unix, raw]: tried(act.__name__, act)\n\
         END\n\
         /usr/bin/python3 s.py"
    )
}

#[expect(
    clippy::print_stderr,
    reason = "whoever runs the tests has to know that it was not tried"
)]
#[tokio::test]
async fn there_is_no_network_unless_it_is_configured_and_never_a_way_to_the_gateways_own_socket() {
    if !confines() || !fs::exists("/usr/bin/python3").unwrap() {
        eprintln!("== shell: sockets are not tried");
        return;
    }
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let (tcp_port, udp_port) = (
        tcp.local_addr().unwrap().port(),
        udp.local_addr().unwrap().port(),
    );
    let closed = Bed::new(json!({})).await;
    let socket = closed.gateway.database().with_file_name("weirgate.sock");
    assert!(socket.exists());
    let told = closed
        .run(&sockets(tcp_port, udp_port, &socket.display().to_string()))
        .await;
    assert!(
        told.contains("no tcp\nno udp\nno listen\nno unix\nno raw\n[exit code 0"),
        "{told}"
    );
    let open = Bed::new(json!({ "network": true })).await;
    let socket = open.gateway.database().with_file_name("weirgate.sock");
    let told = open
        .run(&sockets(tcp_port, udp_port, &socket.display().to_string()))
        .await;
    assert!(
        told.contains("yes tcp\nyes udp\nyes listen\nno unix\nno raw\n[exit code 0"),
        "{told}"
    );
    let mut said = [0];
    tcp.accept().unwrap().0.read_exact(&mut said).unwrap();
    assert_eq!((&said, udp.recv(&mut [0]).unwrap()), (b"x", 1));
}

#[tokio::test]
async fn files_that_are_never_opened_stay_closed_and_get_no_other_name() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({ "approve": "never" })).await;
    bed.run("mkdir -p open/deep shut").await;
    let workspace = bed.workspace();
    fs::write(workspace.join("shut/.env"), "KEY=1").unwrap();
    fs::write(workspace.join("shut/plain.txt"), "plain\n").unwrap();
    let refused = [
        "cat shut/.env",
        "echo x > shut/.env",
        "mv shut/.env open/a",
        "mv shut/.env shut/b",
        "ln shut/.env open/c",
        "cp shut/.env open/d",
        "mv shut other",
    ]
    .map(str::to_owned);
    let told = bed.run(&each(&refused)).await;
    for (number, command) in refused.iter().enumerate() {
        assert!(
            told.contains(&format!("no {number}\n")),
            "{command}: {told}"
        );
    }
    assert!(
        told.contains("[closed to it") && told.contains("shut/.env]"),
        "{told}"
    );
    let told = bed
        .run("cat shut/plain.txt; echo y >> shut/plain.txt; echo z > open/deep/z; ls shut")
        .await;
    assert!(
        told.contains("plain\n") && told.contains("[exit code 0"),
        "{told}"
    );
    assert!(workspace.join("open/deep/z").exists());
    assert_eq!(
        fs::read_to_string(workspace.join("shut/.env")).unwrap(),
        "KEY=1"
    );
}

#[tokio::test]
async fn a_command_uses_no_more_than_it_may() {
    if !confines() {
        return;
    }
    let limits = json!({ "memory": 67_108_864, "max_file": 1_000_000, "open_files": 32, "max_output": 2_048 });
    let files = json!({ "tools": { "files": { "max_bytes": 3_000_000 } } });
    let bed = Bed::with(limits, files).await;
    let told = bed
        .run("head -c 5000000 /dev/zero > big; ls -l big | cut -d' ' -f5; ulimit -n; ulimit -c")
        .await;
    assert!(told.contains("\n1000000\n32\n0\n"), "{told}");
    let told = bed
        .run("x=$(head -c 200000000 /dev/zero | tr '\\0' 'a'); echo ${#x}")
        .await;
    assert!(!told.contains("200000000"), "{told}");
    let told = bed
        .run("for n in $(seq 1 5000); do echo line $n; done")
        .await;
    assert!(
        told.contains("line 1\n")
            && told.contains("bytes left out …]")
            && told.contains("line 5000\n"),
        "{told}"
    );
    assert!(told.len() < 4_000, "{}", told.len());
    // All files together: it is ended when it has written too much.
    let told = bed
        .run("while :; do head -c 900000 /dev/zero > f$RANDOM; sleep 0.1; done")
        .await;
    assert!(told.contains("the workspace is full]"), "{told}");
}

#[tokio::test]
async fn nothing_is_run_where_it_would_see_what_is_the_gateways() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({})).await;
    let folder = bed.gateway.folder().display().to_string();
    let open = Bed::new(json!({ "read": [folder] })).await;
    assert!(
        open.run("ls").await.contains("[exit code 0"),
        "another gateway's folder is not its own"
    );
    let own = open.gateway.folder().display().to_string();
    let shell = json!({ "enabled": true, "read": [own] });
    let changes = json!({ "tools": { "shell": shell },
        "permissions": { "owners": { "qq": ["1"] } } });
    open.gateway.configure(&open.model, changes);
    open.gateway.signal("HUP");
    open.gateway.logged("changed: tools.shell.read").await;
    let told = open.run("ls").await;
    assert!(told.contains("it would see files of the gateway"), "{told}");
}
