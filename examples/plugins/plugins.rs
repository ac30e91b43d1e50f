//! Plug-ins, one for each place where something can be plugged in.
//!
//! None of them waits: a hook runs where messages pass, and whoever has work to do hands it to a task of his own.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use weirgate::hook::Hook;
use weirgate_sdk::{ConversationKey, InboundMessage, Outgoing, UserKey};

/// Leaves out what people only remark: messages that begin with two slashes. They are not journaled.
pub struct Remarks;

impl Hook for Remarks {
    fn before_queue(&self, message: InboundMessage) -> Option<InboundMessage> {
        let is_remark = message.own_text().trim_start().starts_with("//");
        (!is_remark).then_some(message)
    }
}

/// Takes what is urgent first, among the messages of all people.
pub struct Urgent;

impl Hook for Urgent {
    fn priority(&self, message: &InboundMessage) -> i8 {
        let text = message.own_text();
        let urgent = ["urgent", "紧急"].iter().any(|word| text.contains(word));
        if urgent { 8 } else { 0 }
    }
}

/// Keeps telephone numbers from the model, and says in the log that there were some.
pub struct Numbers;

/// Digits in a row that are taken for a telephone number.
const NUMBER: usize = 9;

impl Hook for Numbers {
    fn check_security(&self, text: &str) -> Vec<String> {
        let left_out = text.matches("[number]").count();
        let finding = format!("{left_out} telephone numbers were kept from the model");
        (left_out > 0).then_some(finding).into_iter().collect()
    }

    fn filter_content(&self, text: String) -> String {
        let mut out = String::with_capacity(text.len());
        let mut digits = String::new();
        // A sign behind the end, so that digits at the end are looked at as well.
        for sign in text.chars().chain(['\0']) {
            if sign.is_ascii_digit() {
                digits.push(sign);
                continue;
            }
            let long = digits.len() >= NUMBER;
            out.push_str(if long { "[number]" } else { &digits });
            digits.clear();
            if sign != '\0' {
                out.push(sign);
            }
        }
        out
    }
}

/// Lets a model say nothing: an answer of this one word is not sent.
pub struct Silence;

impl Hook for Silence {
    fn before_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        (outgoing.rendered.text.trim() != "NO_REPLY").then_some(outgoing)
    }
}

/// What passed.
#[derive(Debug, Default)]
pub struct Counts {
    /// Messages that were queued.
    pub queued: AtomicU64,
    /// Turns that were begun.
    pub begun: AtomicU64,
    /// Parts that a platform took.
    pub sent: AtomicU64,
    /// How often somebody had nothing left that waits.
    pub emptied: AtomicU64,
}

/// Counts what passes.
#[derive(Debug, Default)]
pub struct Counter(pub Arc<Counts>);

impl Hook for Counter {
    fn after_queue(&self, _: i64, _: i64, _: i64) {
        self.0.queued.fetch_add(1, Ordering::Relaxed);
    }

    fn next_message(&self, _: i64, _: &UserKey) {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
    }

    fn after_send(&self, _: i64, _: u32) {
        self.0.sent.fetch_add(1, Ordering::Relaxed);
    }

    fn queue_empty(&self, _: &ConversationKey, _: &UserKey) {
        self.0.emptied.fetch_add(1, Ordering::Relaxed);
    }
}
