//! A value that is replaced whole while others read it.
//!
//! Owns the present value only: who took it keeps what he took, whatever comes after. It never changes a
//! value in place.

use std::{fmt, sync::Arc};

use parking_lot::RwLock;

/// The present value of something that a reload replaces.
pub struct Current<T>(RwLock<Arc<T>>);

impl<T> Current<T> {
    /// Holds a first value.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(RwLock::new(Arc::new(value)))
    }

    /// The present value. Costs a lock that nobody holds for longer than a copy of a pointer.
    #[must_use]
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read())
    }

    /// Puts another value in its place, for whoever asks from now on.
    pub fn set(&self, value: T) {
        let value = Arc::new(value);
        // The old one is dropped after the lock: it may be large.
        let _old = std::mem::replace(&mut *self.0.write(), value);
    }
}

impl<T: fmt::Debug> fmt::Debug for Current<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.read().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Current;

    #[test]
    fn who_took_a_value_keeps_it() {
        let current = Current::new(1);
        let taken = current.get();
        current.set(2);
        assert_eq!((*taken, *current.get()), (1, 2));
    }
}
