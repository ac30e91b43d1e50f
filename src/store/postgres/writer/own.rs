//! What the writer does beside the commits of operations: small transactions that may be done again.
//!
//! Owns how each is begun, so that no other process writes meanwhile, and how leases are held.

use std::{collections::HashMap, sync::Arc, time::Instant};

use sqlx::PgConnection;

use super::{Failure, TRANSACTION, Writer, execute};
use crate::store::{
    Held, StoreError, Wanted,
    postgres::{
        connect::within,
        lease::{self, SILENT},
        session::{self, LEASE, Who},
    },
};

impl Writer {
    /// Does something that may be done again, in a transaction of its own in which no other process writes.
    pub(in crate::store::postgres) async fn own<T>(
        &mut self,
        work: impl AsyncFn(&mut PgConnection) -> sqlx::Result<T>,
    ) -> Result<T, StoreError> {
        self.own_as(Who::Writer, work).await
    }

    async fn own_as<T>(
        &mut self,
        who: Who,
        work: impl AsyncFn(&mut PgConnection) -> sqlx::Result<T>,
    ) -> Result<T, StoreError> {
        let mut again = true;
        loop {
            let was_connected = self.connection.is_some();
            match self.own_once(who, &work).await {
                Err(Failure::Lost(_)) if again && was_connected => again = false,
                Ok(value) => return Ok(value),
                Err(Failure::Fenced) => return Err(StoreError::Fenced),
                Err(
                    Failure::Refused(error, _) | Failure::Lost(error) | Failure::Unknown(_, error),
                ) => return Err(StoreError::Database(error)),
            }
        }
    }

    async fn own_once<T>(
        &mut self,
        who: Who,
        work: &impl AsyncFn(&mut PgConnection) -> sqlx::Result<T>,
    ) -> Result<T, Failure> {
        self.connect().await?;
        let process = self.session.process;
        let Some(connection) = self.connection.as_mut() else {
            return Err(Failure::Lost("not connected".to_owned()));
        };
        let done = within(TRANSACTION, async {
            if !session::begin_held(&mut *connection, process, who).await? {
                return Ok(None);
            }
            let value = work(&mut *connection).await?;
            execute(Some(connection), "COMMIT").await?;
            Ok(Some(value))
        });
        match done.await {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(self.fence()),
            Err(error) => Err(self.undo(&error).await),
        }
    }

    /// Says that this process is alive, and takes what is free of the wanted accounts.
    pub async fn hold(&mut self, wanted: &[Wanted]) -> Result<Held, StoreError> {
        let (process, may_take) = (self.session.process, self.is_on_time());
        let started = Instant::now();
        let known = self.holdings.clone();
        let (held, new) = self
            .own_as(Who::Anybody, async |connection| {
                lease::hold(connection, process, wanted, &known, may_take).await
            })
            .await?;
        if !new.is_empty() || self.leases.is_none() {
            self.tenure.begin();
            self.holdings.extend(new);
            self.sort_leases();
        }
        self.heard(started);
        Ok(held)
    }

    /// Knows the lease of each account: of several the first, which is this process's own.
    fn sort_leases(&mut self) {
        let mut leases = HashMap::with_capacity(self.holdings.len());
        for (account, lease) in &self.holdings {
            leases.entry(*account).or_insert(*lease);
        }
        self.leases = Some(Arc::new(leases));
    }

    /// Whether this process was heard regularly. One that was late itself, because the database was away from
    /// everybody or because it was stopped, gives the others the time to be heard again.
    fn is_on_time(&mut self) -> bool {
        if self.heard_at.is_some_and(|at| at.elapsed() > SILENT) {
            self.late_at = Some(Instant::now());
        }
        self.late_at.is_none_or(|at| at.elapsed() > LEASE)
    }

    /// Removes leases to which nothing belongs, but for one of each account.
    pub(in crate::store::postgres) async fn forget_empty_leases(
        &mut self,
    ) -> Result<(), StoreError> {
        let Some(leases) = &self.leases else {
            return Ok(());
        };
        let kept: Vec<i64> = leases.values().copied().collect();
        let process = self.session.process;
        let left = self
            .own(async |connection| lease::forget_empty(connection, process, &kept).await)
            .await?;
        self.holdings.retain(|(_, lease)| left.contains(lease));
        self.tenure.keep(&left);
        Ok(())
    }

    /// Writes one small value.
    pub async fn probe(&mut self) -> Result<(), StoreError> {
        let now = (self.now)();
        self.own(async |connection| {
            sqlx::query("UPDATE journal SET probed_at = $1")
                .bind(now)
                .execute(connection)
                .await
                .map(drop)
        })
        .await
    }
}
