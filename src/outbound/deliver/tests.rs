//! Delivery against a scripted adapter, in virtual time.
