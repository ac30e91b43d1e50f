//! Redactor throughput: whole texts with and without secrets, and streams in small pieces.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use weirgate::security::redact::Redactor;

/// Secrets in a text of the size of a long answer.
const SECRETS: usize = 20;

/// Keys that share a beginning, as those of one provider do.
fn secrets() -> Vec<String> {
    (0..SECRETS)
        .map(|number| format!("sk-bench-{number:02}-4f9a1c7e55d03b{number:x}q"))
        .collect()
}

/// About 64 KiB of prose, every `each`th sentence with a secret; 0 for none.
fn text(each: usize, secrets: &[String]) -> String {
    let mut out = String::new();
    for number in 0.. {
        out.push_str(
            "The answer to the question is long, 回答也有中文, and it has skills to show. ",
        );
        if each > 0 && number % each == 0 {
            out.push_str(secrets.get(number % SECRETS).map_or("", String::as_str));
        }
        if out.len() > 64 * 1024 {
            break;
        }
    }
    out
}

fn redact(bench: &mut Criterion) {
    let secrets = secrets();
    let (redactor, _) = Redactor::new(secrets.clone());
    let mut group = bench.benchmark_group("redact");
    for (name, each) in [("clean", 0), ("some", 20), ("many", 1)] {
        let text = text(each, &secrets);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("whole", name), &text, |bench, text| {
            bench.iter(|| black_box(redactor.redact(black_box(text))).len());
        });
        let letters: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = letters
            .chunks(4)
            .map(|piece| piece.iter().collect())
            .collect();
        group.bench_with_input(
            BenchmarkId::new("stream", name),
            &pieces,
            |bench, pieces| {
                let mut out = String::with_capacity(text.len());
                bench.iter(|| {
                    out.clear();
                    let mut filter = redactor.filter();
                    for piece in pieces {
                        filter.push(black_box(piece), &mut out);
                    }
                    filter.finish(&mut out);
                    black_box(out.len())
                });
            },
        );
    }
    group.finish();
}

criterion_group!(benches, redact);
criterion_main!(benches);
