//! Fail points: named places at which a test build aborts the process.
//!
//! `WEIRGATE_FAILPOINT=accept.after:3` aborts when the place `accept.after` is reached for the third
//! time; without a number, for the first. The journal has `<kind>.before` and `<kind>.after` for every
//! kind of [`crate::store::Write`], counted once for each operation of a commit. Without the feature
//! `failpoints` nothing of this is in the binary. It never returns an error: a fail point is a crash.

/// When around a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Nothing is durable yet.
    Before,
    /// The commit is durable; nobody was told.
    After,
}

/// Passes the place `name`.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn hit(_name: &str) {}

/// Passes the place `<kind>.before` or `<kind>.after`.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn around(_kind: &str, _moment: Moment) {}

#[cfg(feature = "failpoints")]
pub use armed::{around, hit};

#[cfg(feature = "failpoints")]
mod armed {
    use std::sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    };

    use super::Moment;

    static PLAN: LazyLock<Option<Plan>> =
        LazyLock::new(|| Plan::read(&std::env::var("WEIRGATE_FAILPOINT").ok()?));

    #[derive(Debug)]
    pub(super) struct Plan {
        name: String,
        left: AtomicU64,
    }

    impl Plan {
        pub(super) fn read(text: &str) -> Option<Self> {
            let (name, count) = text.rsplit_once(':').unwrap_or((text, "1"));
            let count: u64 = count.parse().ok().filter(|count| *count > 0)?;
            Some(Self {
                name: name.to_owned(),
                left: AtomicU64::new(count),
            })
        }

        /// Whether this pass is the one that was asked for.
        pub(super) fn reached(&self, name: &str) -> bool {
            self.name == name && self.left.fetch_sub(1, Ordering::Relaxed) == 1
        }
    }

    /// Passes the place `name`.
    pub fn hit(name: &str) {
        if PLAN.as_ref().is_some_and(|plan| plan.reached(name)) {
            std::process::abort();
        }
    }

    /// Passes the place `<kind>.before` or `<kind>.after`.
    pub fn around(kind: &str, moment: Moment) {
        if PLAN.is_some() {
            hit(&format!(
                "{kind}.{}",
                if moment == Moment::Before {
                    "before"
                } else {
                    "after"
                }
            ));
        }
    }

    #[cfg(test)]
    mod tests {
        use super::Plan;

        #[test]
        fn a_plan_names_a_place_and_a_count() {
            let plan = Plan::read("accept.after:3").unwrap();
            let passes: Vec<bool> = [
                "accept.after",
                "accept.before",
                "accept.after",
                "accept.after",
            ]
            .into_iter()
            .map(|name| plan.reached(name))
            .collect();
            assert_eq!(passes, [false, false, false, true]);
            assert!(!plan.reached("accept.after"), "it is reached once");
            assert!(Plan::read("send.before").unwrap().reached("send.before"));
            assert!(Plan::read("send.before:0").is_none());
            assert!(Plan::read("send.before:x").is_none());
        }
    }
}
