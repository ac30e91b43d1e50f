//! Lines reach the file in order, and a disk that takes nothing holds nobody up.

use super::*;

#[test]
fn lines_reach_the_file_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let sink = FileSink::start(&LogFile {
        path: path.clone(),
        max_size: 1 << 20,
        keep: 2,
    })
    .unwrap();
    let lines: String = (0..1000).map(|line| format!("line {line}\n")).collect();
    for line in lines.split_inclusive('\n') {
        sink.push(line);
    }
    sink.flush();
    assert_eq!(std::fs::read_to_string(path).unwrap(), lines);
}

#[test]
fn a_disk_that_takes_nothing_holds_nobody_up() {
    // The other end of this pipe is never read.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let reader = std::fs::File::options().read(true).write(true).open(&path);
    let _reader = reader.unwrap();
    let sink = FileSink::start(&LogFile {
        path,
        max_size: 1 << 20,
        keep: 2,
    })
    .unwrap();
    let line = "x".repeat(8000);
    let before = Instant::now();
    for _ in 0..20_000 {
        sink.push(&line);
    }
    assert!(sink.waiting.bytes.load(Ordering::Relaxed) <= QUEUED_BYTES);
    assert!(sink.waiting.lines.load(Ordering::Relaxed) <= QUEUED_LINES + 16);
    assert!(
        before.elapsed() < Duration::from_secs(60),
        "it waited for the pipe"
    );
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error() {
    let settings = LogFile {
        path: "/proc/nothing/log".into(),
        max_size: 1 << 20,
        keep: 2,
    };
    assert!(FileSink::start(&settings).is_err());
}
