//! Work of stages.

use crate::Work;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work of stages, a line each.
#[derive(Debug, Default)]
pub struct Log(Mutex<Vec<Work>>);

impl Log {
    /// Adds to the line of a stage.
    pub fn add(&self, more: Work) {
        let mut all = locked(&self.0);
        let Some(of) = all.iter_mut().find(|w| w.stage == more.stage) else { return all.push(more) };
        *of = Work {
            stage: of.stage,
            device: of.device | more.device,
            chunks: of.chunks + more.chunks,
            redone: of.redone + more.redone,
            on_host: of.on_host + more.on_host,
            items: of.items + more.items,
            seconds: of.seconds + more.seconds,
            bytes: of.bytes + more.bytes,
        };
    }

    /// All lines, in the order in which stages ran first.
    pub fn all(&self) -> Vec<Work> {
        locked(&self.0).clone()
    }
}
