//! Long calls: with threads that end with them, and told to a callback of C's on the thread of the call.

use crate::types::{Fault, vs_terrain_error::*, vs_terrain_optimize_callback};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ffi::c_void;
use std::ptr;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Tells how far work is, in percent.
pub type Tell<'a> = &'a (dyn Fn(u32) + Sync);

/// How far work is, from the threads that do it to the one that tells.
#[derive(Default)]
struct Way {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Rising numbers, in percent.
    advances: Vec<u32>,
    ended: bool,
}

impl Way {
    fn set(&self, set: impl FnOnce(&mut State)) {
        set(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }

    /// Work is so far, if it was not farther already.
    fn advance(&self, percent: u32) {
        self.set(|s| s.advances.extend((s.advances.last() < Some(&percent)).then_some(percent)));
    }

    /// Waits until there are more than so many advances, or work has ended: the new ones, and whether it has.
    fn beyond(&self, told: usize) -> (Vec<u32>, bool) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.changed.wait_while(state, |s| s.advances.len() <= told && !s.ended);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (state.advances[told..].to_vec(), state.ended)
    }
}

/// Says that work has ended, also if it panics.
struct End<'a>(&'a Way);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.set(|s| s.ended = true);
    }
}

/// Threads that are waited for.
#[derive(Default)]
struct Joined(Vec<JoinHandle<()>>);

impl Drop for Joined {
    fn drop(&mut self) {
        // rayon catches what panics in them
        self.0.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Works on all cores.
pub fn threaded<R: Send>(work: impl FnOnce() -> Result<R, Fault> + Send) -> Result<R, Fault> {
    told(None, ptr::null_mut(), |_| work())
}

/// Works on all cores, and tells a callback of rising numbers: 0 first, and 100 once all is done. No thread is left
/// then, so a process may fork, or let go of the library.
pub fn told<R: Send>(
    callback: vs_terrain_optimize_callback,
    userData: *mut c_void,
    work: impl FnOnce(Tell) -> Result<R, Fault> + Send,
) -> Result<R, Fault> {
    let mut threads = Joined::default(); // dropped after the pool, which lets them end
    let pool = ThreadPoolBuilder::new().spawn_handler(|thread| {
        threads.0.push(thread::Builder::new().spawn(|| thread.run())?);
        Ok(())
    });
    let pool = pool.build().map_err(|e| Fault::new(LIMIT, format!("no threads to work with: {e}")))?;
    let Some(callback) = callback else { return pool.install(|| work(&|_| ())) };
    callback(0, userData);
    let result = watched(&pool, work, |percent| callback(percent as i32, userData))?;
    callback(100, userData);
    Ok(result)
}

/// Works in a pool, and tells of each advance here, in their order.
fn watched<R: Send>(
    pool: &ThreadPool,
    work: impl FnOnce(Tell) -> Result<R, Fault> + Send,
    mut tell: impl FnMut(u32),
) -> Result<R, Fault> {
    let (way, mut result, mut told) = (Way::default(), None, 0);
    pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let _end = End(&way);
            result = Some(work(&|percent| way.advance(percent)));
        });
        loop {
            let (advances, ended) = way.beyond(told);
            told += advances.len();
            advances.into_iter().for_each(|percent| tell(percent.min(99)));
            if ended {
                break;
            }
        }
    });
    result.unwrap_or_else(|| Err(Fault::new(INTERNAL, "work ended without a result")))
}
