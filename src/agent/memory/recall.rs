//! What of the memory a turn is told: found by words and by meaning, and put into a fence.
//!
//! Owns what is sought, how the two ways of finding are joined, and how much is told. What was found is noted, so that
//! what is used lives longer.

use std::{collections::HashMap, time::Duration};

use weirgate_sdk::Timestamp;

use super::{
    Memories, Site,
    config::Memory,
    dates::{Day, mentioned},
    score::{Fate, fate, recalled, score},
    vector::{Vector, likeness},
    words::words,
};
use crate::{
    agent::{context::estimate_tokens, rules::Rules},
    security::fence::{Origin, fenced},
    store::{MemoryChange, MemoryQuestion, MemoryRow, MemoryTier, Place, StoreError},
};

/// Entries that are told without being sought, at most.
const STANDING: usize = 60;
/// Entries that are found by words, at most.
const FOUND: usize = 50;
/// Entries whose meaning is compared, at most.
const COMPARED: usize = 2_000;
/// Under this an entry does not fit what is asked.
const FITS: f64 = 0.12;
/// Texts of which the meaning is less alike than this have nothing to do with each other.
const ALIKE: f64 = 0.4;
/// Of what matters, so many are told without fitting.
const ALWAYS: usize = 3;
/// How important they have to be, in thousandths.
const MATTERS: u16 = 700;
/// How long the meaning of a question may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a turn is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recalled {
    /// Standing rules of the place, one a line; part of the system prompt.
    pub rules: String,
    /// What is remembered, fenced; stands before the question. Empty if nothing is.
    pub notes: String,
}

/// An entry and how well it fits, from 0 to 1.
type Fitting = (MemoryRow, f64);

impl Memories {
    /// What a turn is told. `fresh`: the conversation begins with it.
    ///
    /// # Errors
    /// The store's.
    pub async fn recall(
        &self,
        rules: &Rules,
        site: Site,
        said: &str,
        fresh: bool,
    ) -> Result<Recalled, StoreError> {
        let settings = &rules.settings.memory;
        let now = self.clock.now();
        let day = mentioned(said, now, &rules.settings.zone)
            .or_else(|| fresh.then(|| Day::of(now, &rules.settings.zone)).flatten());
        let standing = self.standing(site, day).await?;
        let found = self.find(rules, &site.recalled_from(), said).await?;
        // What is over by now is not told, also before somebody has looked through the place.
        let lives = |row: &MemoryRow| {
            let fate = fate(row, now, &settings.retention);
            !row.archived && !matches!(fate, Fate::Goes | Fate::Aside)
        };
        let found = found.into_iter().filter(|(row, _)| lives(row)).collect();
        let standing = standing.into_iter().filter(&lives);
        let (rows, rest): (Vec<MemoryRow>, Vec<MemoryRow>) =
            standing.partition(|row| row.tier == MemoryTier::System);
        let chosen = choose(found, rest, settings, now);
        self.note(&chosen, now);
        Ok(Recalled {
            rules: listed(rows.iter().rev()),
            notes: notes(&chosen),
        })
    }

    /// What is told without being sought: rules, what matters, and what was made on a day.
    async fn standing(&self, site: Site, day: Option<Day>) -> Result<Vec<MemoryRow>, StoreError> {
        let since = day.map_or(Timestamp::MAX, |day| day.begin);
        let question = MemoryQuestion::Standing(site.recalled_from(), since);
        let rows = self.store.remembered(question, STANDING).await?;
        let in_time = |row: &MemoryRow| {
            row.tier != MemoryTier::Daily || day.is_some_and(|day| row.created_at < day.end)
        };
        Ok(rows.into_iter().filter(in_time).collect())
    }

    /// Entries that fit a text, those that fit best first; also what was put aside, but not what is over by now.
    ///
    /// # Errors
    /// The store's.
    pub async fn find(
        &self,
        rules: &Rules,
        places: &[Place],
        text: &str,
    ) -> Result<Vec<Fitting>, StoreError> {
        self.find_with(rules, places, text, Vec::new()).await
    }

    /// What somebody may look up where he asks: what fits of what is told there, and in private also of what comes from
    /// his own words in groups, as /memory lists it.
    ///
    /// # Errors
    /// The store's.
    pub async fn look_up(
        &self,
        rules: &Rules,
        site: Site,
        text: &str,
    ) -> Result<Vec<Fitting>, StoreError> {
        let places = site.recalled_from();
        let mut elsewhere = Vec::new();
        if !site.group {
            let asked = words(text);
            elsewhere = self.about(site.person).await?;
            elsewhere.retain(|row| {
                let mut own = row.tokens.split(' ');
                !places.contains(&row.place) && own.any(|word| asked.contains(word))
            });
        }
        self.find_with(rules, &places, text, elsewhere).await
    }

    /// What fits of `more`, and of what is in these places.
    async fn find_with(
        &self,
        rules: &Rules,
        places: &[Place],
        text: &str,
        more: Vec<MemoryRow>,
    ) -> Result<Vec<Fitting>, StoreError> {
        let asked: Vec<String> = words(text).into_iter().collect();
        let mut by_words = if asked.is_empty() {
            Vec::new()
        } else {
            let question = MemoryQuestion::Words(places.to_vec(), asked.clone());
            self.store.remembered(question, FOUND).await?
        };
        by_words.extend(more);
        let mut found = fitting(by_words, &asked);
        for (row, likeness) in self.by_meaning(rules, places, text).await? {
            // Either way of finding may be right: what both find is more likely.
            let known = found.iter_mut().find(|(other, _)| other.id == row.id);
            match known {
                Some((_, fits)) => *fits = 1.0 - (1.0 - *fits) * (1.0 - likeness),
                None => found.push((row, likeness)),
            }
        }
        let (now, retention) = (self.clock.now(), &rules.settings.memory.retention);
        let is_over = |row: &MemoryRow| matches!(fate(row, now, retention), Fate::Goes);
        found.retain(|(row, fits)| *fits >= FITS && !is_over(row));
        found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        Ok(found)
    }

    /// Entries whose meaning is like that of a text; none without a model that knows of meanings.
    async fn by_meaning(
        &self,
        rules: &Rules,
        places: &[Place],
        text: &str,
    ) -> Result<Vec<Fitting>, StoreError> {
        let Some(asked) = self.meaning(rules, text, PATIENCE).await else {
            return Ok(Vec::new());
        };
        let question = MemoryQuestion::Embedded(places.to_vec(), asked.model.clone());
        let rows = self.store.remembered(question, COMPARED).await?;
        let asked = Vector::decode(&asked.vector);
        let compared = rows.into_iter().filter_map(|row| {
            let own = Vector::decode(&row.embedding.as_ref()?.vector);
            let alike = likeness(&asked, &own);
            (alike >= ALIKE).then(|| (row, (alike - ALIKE) / (1.0 - ALIKE)))
        });
        let mut alike: Vec<Fitting> = compared.collect();
        alike.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        alike.truncate(FOUND);
        Ok(alike)
    }

    /// Notes behind the turn that these fitted.
    fn note(&self, chosen: &[Fitting], now: Timestamp) {
        let fitted = chosen.iter().filter(|(_, fits)| *fits > 0.0);
        let changes: Vec<MemoryChange> = fitted
            .map(|(row, fits)| {
                let mut row = row.clone();
                recalled(&mut row, *fits, now);
                MemoryChange::Recalled(Box::new(row))
            })
            .collect();
        if changes.is_empty() {
            return;
        }
        let store = std::sync::Arc::clone(&self.store);
        tokio::spawn(async move {
            if let Err(error) = store.change_memory(changes).await {
                tracing::debug!(%error, "that something was recalled was not noted");
            }
        });
    }
}

/// How well each row fits, by the weight of the words that it shares with what is asked: the rarer a word is among the
/// rows, the more it weighs.
fn fitting(rows: Vec<MemoryRow>, asked: &[String]) -> Vec<Fitting> {
    let mut often: HashMap<&str, usize> = HashMap::new();
    for row in &rows {
        for word in row.tokens.split(' ') {
            *often.entry(word).or_default() += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "there are few rows")]
    let weigh = |word: &str| {
        let often = often.get(word).copied().unwrap_or(0) as f64;
        (1.0 + (rows.len() as f64 + 1.0) / (often + 1.0)).ln()
    };
    let all: f64 = asked.iter().map(|word| weigh(word)).sum();
    let fits = rows.iter().map(|row| {
        let own: Vec<&str> = row.tokens.split(' ').collect();
        let shared = asked.iter().filter(|word| own.contains(&word.as_str()));
        let shared: f64 = shared.map(|word| weigh(word)).sum();
        let own: f64 = own.iter().map(|word| weigh(word)).sum();
        // A short entry in a long question fits as well as a short question to a long entry.
        shared / all.min(own).max(f64::MIN_POSITIVE)
    });
    let fits: Vec<f64> = fits.collect();
    drop(often);
    rows.into_iter().zip(fits).collect()
}

/// What is told: what fits and what stands, the most valuable first, as much as there is room for.
fn choose(
    found: Vec<Fitting>,
    standing: Vec<MemoryRow>,
    settings: &Memory,
    now: Timestamp,
) -> Vec<Fitting> {
    let found: Vec<Fitting> = found
        .into_iter()
        .filter(|(row, _)| row.tier != MemoryTier::System)
        .collect();
    let always = standing
        .into_iter()
        .filter(|row| !found.iter().any(|(other, _)| other.id == row.id));
    let (daily, matters): (Vec<_>, Vec<_>) = always.partition(|row| row.tier == MemoryTier::Daily);
    let matters = matters.into_iter().filter(|row| row.importance >= MATTERS);
    let unsought = daily.into_iter().chain(matters.take(ALWAYS));
    let mut all: Vec<Fitting> = found
        .into_iter()
        .chain(unsought.map(|row| (row, 0.0)))
        .collect();
    let worth = |(row, fits): &Fitting| {
        let fits = (*fits > 0.0).then_some(*fits);
        score(row, fits, now, settings.retention.long_term)
    };
    all.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    let mut left = settings.recall.max_tokens;
    let fit = all.into_iter().take(settings.recall.max_entries);
    fit.filter(|(row, _)| {
        let size = estimate_tokens(&row.content) + 4;
        let fits = size <= left;
        left -= if fits { size } else { 0 };
        fits
    })
    .collect()
}

fn notes(chosen: &[Fitting]) -> String {
    if chosen.is_empty() {
        return String::new();
    }
    let lines = listed(chosen.iter().map(|(row, _)| row));
    fenced(Origin::Memory, &lines)
}

/// One a line.
fn listed<'a>(rows: impl Iterator<Item = &'a MemoryRow>) -> String {
    let lines = rows.map(|row| format!("- {}", row.content.replace('\n', "\n  ")));
    lines.collect::<Vec<_>>().join("\n")
}
