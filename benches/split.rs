//! Speed of splitting an answer and of rendering it for each platform, in bytes of the answer a second.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use weirgate::outbound::markdown::parse;
use weirgate::outbound::split::{Mode, Pace, split};
use weirgate_discord::format::Markdown;
use weirgate_qq::format::PlainText;
use weirgate_sdk::answer::{Format, Render};
use weirgate_telegram::format::Entities;
use weirgate_webchat::Html;

/// An answer of some 100 kB with all that answers are made of.
fn answer() -> String {
    let part = "## A heading\n\nSome **bold** words, a [link](https://example.com/a_b) and `code`. \
        Another sentence follows. 中文的句子也很多。还有一句，比较长一点的，带有标点！\n\n\
        - first item\n- second item with *emphasis*\n    - an item inside\n\n\
        ```rust\nfn main() {\n    let value = 1;\n}\n```\n\n\
        | name | value |\n|---|--:|\n| 名称 | 1.5 |\n| other | 22 |\n\n> A quotation.\n> Second line.\n\n";
    part.repeat(200)
}

fn fits(renderer: &PlainText, piece: &str) -> bool {
    renderer.fits(&renderer.render(&parse(piece, Format::Markdown)))
}

fn splitting(criterion: &mut Criterion) {
    let mixed = answer();
    let long_line = "word and word ".repeat(8_000);
    let renderer = PlainText::default();
    let pace = Pace {
        threshold: 500,
        mode: Mode::Sentence,
        min_segment_length: 50,
        add_ellipsis: true,
    };
    let mut group = criterion.benchmark_group("split");
    group.sample_size(20);
    for (name, text, pace) in [
        ("mixed", &mixed, None),
        ("mixed_paced", &mixed, Some(&pace)),
        ("one_long_line", &long_line, None),
    ] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                split(black_box(text), Format::Markdown, pace, &|piece| {
                    fits(&renderer, piece)
                })
            });
        });
    }
    group.finish();
}

fn rendering(criterion: &mut Criterion) {
    let text = answer();
    let blocks = parse(&text, Format::Markdown);
    let renderers: [(&str, &dyn Render); 4] = [
        ("plain_text", &PlainText::default()),
        ("html", &Html),
        ("entities", &Entities::new(4_096)),
        ("markdown", &Markdown::new(2_000)),
    ];
    let mut group = criterion.benchmark_group("render");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("parse", |bencher| {
        bencher.iter(|| parse(black_box(&text), Format::Markdown));
    });
    for (name, renderer) in renderers {
        group.bench_function(name, |bencher| {
            bencher.iter(|| renderer.render(black_box(&blocks)))
        });
    }
    group.finish();
}

criterion_group!(benches, splitting, rendering);
criterion_main!(benches);
