//! What is kept and found, on a memory in the process; and how well, on a labelled set of our own.

use std::sync::Arc;

use super::{volatile::Volatile, *};
use crate::{
    app::tune::default_rules,
    store::{MemoryKind, MemorySource, MemoryTier},
};

/// A time in all tests of the memory, in December 2026.
const NOW: i64 = 1_796_058_000_000;

/// An entry of nobody in particular, made at the beginning of time.
pub(super) fn entry(content: &str) -> MemoryRow {
    MemoryRow {
        id: 0,
        place: Place::of_person(1),
        kind: MemoryKind::Semantic,
        tier: MemoryTier::Misc,
        name: None,
        content: content.to_owned(),
        tokens: words::stored(content),
        importance: 500,
        relevance: Vec::new(),
        recalls: 0,
        archived: false,
        created_at: 0,
        updated_at: 0,
        recalled_at: 0,
        source: MemorySource::Person,
        from_conversation: 1,
        from_person: 1,
        from_turn: 1,
        embedding: None,
    }
}

const SITE: Site = Site {
    conversation: 1,
    person: 1,
    group: false,
    turn: 1,
};

fn bed() -> (Memories, Rules) {
    let clock = Clock::starting_at(NOW);
    let memories = Memories::new(Arc::new(Volatile::default()), clock);
    (memories, default_rules(clock))
}

fn new(content: &str) -> New {
    New {
        content: content.to_owned(),
        kind: MemoryKind::Semantic,
        tier: MemoryTier::Important,
        name: None,
        importance: 0.5,
        source: MemorySource::Tool,
    }
}

async fn contents(memories: &Memories) -> Vec<String> {
    let rows = memories.of_place(SITE.own()).await.unwrap();
    rows.into_iter().map(|row| row.content).collect()
}

#[tokio::test]
async fn what_says_the_same_is_one_entry_with_the_newer_words() {
    let (memories, rules) = bed();
    let keep = async |entry: New| memories.keep(&rules, SITE, entry).await.unwrap();
    assert_eq!(
        keep(new("Ann drinks green tea at four")).await,
        Kept::Added(1)
    );
    let mut later = new("At four Ann drinks green tea.");
    later.tier = MemoryTier::Misc;
    later.importance = 0.9;
    assert_eq!(keep(later).await, Kept::Updated(1));
    assert_eq!(keep(new("Ann drinks black coffee")).await, Kept::Added(2));
    assert_eq!(keep(new("小明每天下午四点喝绿茶")).await, Kept::Added(3));
    assert_eq!(
        keep(new("小明每天下午四点喝绿茶。")).await,
        Kept::Updated(3)
    );
    let rows = memories.of_place(SITE.own()).await.unwrap();
    let tea = rows.iter().find(|row| row.id == 1).unwrap();
    assert_eq!(tea.content, "At four Ann drinks green tea.");
    assert_eq!(
        (tea.tier, tea.importance),
        (MemoryTier::Important, 900),
        "the more lasting of both"
    );
    assert_eq!(keep(new(" \n")).await, Kept::Empty);
}

#[tokio::test]
async fn a_full_place_gives_up_what_is_worth_least_and_never_what_matters() {
    let (memories, rules) = bed();
    let row = |number: usize, tier| {
        let mut row = entry(&format!("unlike{number}"));
        row.tier = tier;
        row.updated_at = NOW;
        row.importance = if number == 7 { 100 } else { 500 };
        MemoryChange::Put(Box::new(row))
    };
    let all = (0..1_000).map(|number| row(number, MemoryTier::Daily));
    memories.store.change_memory(all.collect()).await.unwrap();
    let kept = memories.keep(&rules, SITE, new("a thousand and one")).await;
    assert!(matches!(kept, Ok(Kept::Added(_))));
    let left = contents(&memories).await;
    assert_eq!(left.len(), 1_000);
    assert!(!left.contains(&"unlike7".to_owned()));
    memories.forget_place(SITE.own()).await.unwrap();
    let all = (0..1_000).map(|number| row(number, MemoryTier::Important));
    memories.store.change_memory(all.collect()).await.unwrap();
    let kept = memories.keep(&rules, SITE, new("a thousand and one")).await;
    assert_eq!(kept.unwrap(), Kept::Full);
}

#[tokio::test]
async fn what_tells_of_the_past_becomes_one_entry_and_words_of_others_do_not_join() {
    let (memories, rules) = bed();
    let told = |content: &str, person: i64| {
        let mut row = entry(content);
        (row.tier, row.updated_at, row.from_person) = (MemoryTier::Important, NOW, person);
        MemoryChange::Put(Box::new(row))
    };
    let rows = vec![
        told("上次我们去了西湖", 1),
        told("Last time we took the train.", 1),
        told("Ann likes tea.", 1),
        told("曾经在南京住过三年", 1),
        told("Last year Ben moved.", 2),
    ];
    memories.store.change_memory(rows).await.unwrap();
    memories.tend_all(&rules).await.unwrap();
    let expected = "上次我们去了西湖\nLast time we took the train.\n曾经在南京住过三年";
    let left = contents(&memories).await;
    assert_eq!(left, [expected, "Last year Ben moved.", "Ann likes tea."]);
    let more = (0..3).map(|number| told(&format!("Back then it was {number}."), 1));
    memories.store.change_memory(more.collect()).await.unwrap();
    memories.tend(&rules, SITE.own()).await.unwrap();
    let left = contents(&memories).await;
    assert_eq!(left.len(), 3);
    assert!(
        left.iter()
            .any(|text| text.starts_with(expected) && text.ends_with("Back then it was 2."))
    );
}

#[tokio::test]
async fn a_look_raises_puts_aside_and_removes_at_once() {
    let (memories, rules) = bed();
    let row = |content: &str, tier, importance, days: i64| {
        let mut row = entry(content);
        (row.tier, row.importance) = (tier, importance);
        row.updated_at = NOW - days * 86_400_000;
        MemoryChange::Put(Box::new(row))
    };
    let rows = vec![
        row("passing", MemoryTier::Misc, 500, 2),
        row("it matters", MemoryTier::Misc, 900, 2),
        row("fresh", MemoryTier::Misc, 500, 0),
        row("long ago", MemoryTier::Important, 300, 200),
        row("a rule", MemoryTier::System, 0, 900),
    ];
    memories.store.change_memory(rows).await.unwrap();
    memories.tend_all(&rules).await.unwrap();
    let rows = memories.of_place(SITE.own()).await.unwrap();
    let left: Vec<_> = rows
        .iter()
        .map(|row| (row.content.as_str(), row.tier, row.archived))
        .collect();
    assert_eq!(
        left,
        [
            ("a rule", MemoryTier::System, false),
            ("long ago", MemoryTier::Important, true),
            ("fresh", MemoryTier::Misc, false),
            ("it matters", MemoryTier::Important, false),
        ]
    );
}

#[tokio::test]
async fn days_are_told_when_they_begin_or_are_asked_for() {
    let (memories, rules) = bed();
    let made = |content: &str, days: i64| {
        let mut row = entry(content);
        row.tier = MemoryTier::Daily;
        row.created_at = NOW - days * 86_400_000;
        row.updated_at = row.created_at;
        MemoryChange::Put(Box::new(row))
    };
    let rows = vec![made("Ran the tests.", 0), made("Moved the server.", 1)];
    memories.store.change_memory(rows).await.unwrap();
    let notes = async |said: &str, fresh: bool| {
        memories
            .recall(&rules, SITE, said, fresh)
            .await
            .unwrap()
            .notes
    };
    assert_eq!(notes("hm", false).await, "");
    let today = notes("hm", true).await;
    assert!(
        today.contains("Ran the tests.") && !today.contains("server"),
        "{today}"
    );
    let before = notes("what happened yesterday?", false).await;
    assert!(
        before.contains("Moved the server.") && !before.contains("tests"),
        "{before}"
    );
}

#[tokio::test]
async fn only_so_much_is_told_the_most_valuable_first() {
    let (memories, mut rules) = bed();
    for number in 0..20 {
        let mut about = new(&format!(
            "The lighthouse has lamp number {number} of its own"
        ));
        about.importance = f64::from(number) / 20.0;
        let content = format!(
            "{} {}",
            about.content,
            "x".repeat(usize::try_from(number).unwrap())
        );
        about.content = content;
        memories.keep(&rules, SITE, about).await.unwrap();
    }
    let recalled = memories
        .recall(&rules, SITE, "lighthouse lamps", false)
        .await
        .unwrap();
    assert!(recalled.notes.lines().count() <= 9, "{}", recalled.notes);
    rules.settings.memory.recall.max_tokens = 45;
    let few = memories
        .recall(&rules, SITE, "lighthouse lamps", false)
        .await
        .unwrap();
    assert!(
        (2..=4).contains(&few.notes.lines().count()),
        "{}",
        few.notes
    );
}

/// What is remembered, and the questions that it answers. Written for this test.
const LABELLED: [(&str, &[&str]); 24] = [
    (
        "Marta is allergic to peanuts and walnuts.",
        &[
            "what food must Marta avoid? allergic?",
            "peanut butter for Marta?",
        ],
    ),
    (
        "The staging server runs on port 8443 in Frankfurt.",
        &[
            "which port does staging use?",
            "where is the staging server?",
        ],
    ),
    (
        "Ben's birthday is on the third of May.",
        &["when is Ben's birthday?"],
    ),
    (
        "The team decided to use PostgreSQL instead of MySQL.",
        &[
            "which database did we decide on, postgresql?",
            "why not MySQL",
        ],
    ),
    (
        "Invoices are sent on the last Friday of each month.",
        &["when do invoices go out?"],
    ),
    (
        "Lena prefers to be called Leni and speaks Polish.",
        &[
            "which languages does Lena speak?",
            "how should I call Lena?",
        ],
    ),
    (
        "The garden gate code changes every January.",
        &["gate code", "when does the code of the gate change?"],
    ),
    (
        "Oskar drives a blue Volvo from 1998.",
        &["what car is the Volvo of Oskar?"],
    ),
    (
        "The printer on the second floor needs a new drum.",
        &["what is wrong with the printer?"],
    ),
    (
        "Release 2.4 is planned for the week after Easter.",
        &["when is the next release planned?"],
    ),
    (
        "Tomas cannot attend meetings before ten in the morning.",
        &["can Tomas attend a meeting at nine?"],
    ),
    (
        "The wedding of Ida and Jon is in Lisbon.",
        &["where is the wedding?", "are Ida and Jon in Lisbon?"],
    ),
    (
        "小明对花生过敏，不能吃坚果。",
        &["小明可以吃花生吗？", "谁对坚果过敏？"],
    ),
    (
        "测试服务器在法兰克福，端口是八四四三。",
        &["测试服务器的端口是多少？", "服务器在哪里，法兰克福吗"],
    ),
    ("王老师的生日是五月三日。", &["王老师什么时候过生日？"]),
    (
        "团队决定用邮件而不是短信通知客户。",
        &["怎么通知客户？", "短信通知还用吗"],
    ),
    ("每个月最后一个星期五开发票。", &["什么时候开发票？"]),
    (
        "小李喜欢喝乌龙茶，不喝咖啡。",
        &["小李喝咖啡吗？", "乌龙茶是谁喜欢的"],
    ),
    ("花园大门的密码每年一月更换。", &["大门密码什么时候更换？"]),
    ("张伟开一辆蓝色的旧货车。", &["张伟开什么车？货车？"]),
    ("二楼的打印机需要换硒鼓。", &["打印机怎么了？"]),
    ("下一个版本计划在春节后发布。", &["新版本计划何时发布？"]),
    ("赵敏上午十点以前不能开会。", &["赵敏上午九点能开会吗？"]),
    (
        "婚礼在杭州西湖边举行。",
        &["婚礼在哪里举行？", "西湖边有什么安排"],
    ),
];

#[tokio::test]
async fn what_answers_a_question_is_found_first_in_both_languages() {
    let (memories, rules) = bed();
    for (content, _) in LABELLED {
        let kept = memories.keep(&rules, SITE, new(content)).await.unwrap();
        assert!(matches!(kept, Kept::Added(_)), "{content}");
    }
    let (mut asked, mut first, mut third) = (0, 0, 0);
    let mut missed = Vec::new();
    for (content, questions) in LABELLED {
        for question in questions {
            let found = memories
                .find(&rules, &[SITE.own()], question)
                .await
                .unwrap();
            let place = found.iter().position(|(row, _)| row.content == content);
            asked += 1;
            first += usize::from(place == Some(0));
            third += usize::from(place.is_some_and(|place| place < 3));
            if place != Some(0) {
                missed.push(*question);
            }
        }
    }
    // In percent.
    assert!(
        first * 100 >= asked * 90,
        "{first} of {asked} first; not: {missed:?}"
    );
    assert!(
        third * 100 >= asked * 95,
        "{third} of {asked} among three; not first: {missed:?}"
    );
    for nothing in [
        "how tall is the Eiffel tower?",
        "今晚有什么电影",
        "thanks!",
        "好的",
    ] {
        let notes = memories
            .recall(&rules, SITE, nothing, false)
            .await
            .unwrap()
            .notes;
        assert_eq!(notes, "", "{nothing}");
    }
}
