//! How far a call is, told to a callback of C's on the thread of the call.

use crate::types::{Fault, vs_terrain_error::*, vs_terrain_optimize_callback};
use std::ffi::c_void;
use std::sync::mpsc;
use std::{panic, thread};

/// Tells how far work is, in percent.
pub type Tell<'a> = &'a (dyn Fn(u32) + Sync);

/// Works, and tells a callback of rising numbers: 0 first, and 100 once all is done.
pub fn told<R: Send>(
    callback: vs_terrain_optimize_callback,
    userData: *mut c_void,
    work: impl FnOnce(Tell) -> Result<R, Fault> + Send,
) -> Result<R, Fault> {
    let Some(callback) = callback else { return work(&|_| ()) };
    let mut next = 0;
    let mut tell = |percent: u32| {
        if percent >= next {
            next = percent + 1;
            callback(percent as i32, userData);
        }
    };
    tell(0);
    let (sender, told) = mpsc::channel();
    let result = thread::scope(|scope| {
        let work = move || work(&|percent| _ = sender.send(percent));
        let worker = thread::Builder::new().spawn_scoped(scope, work);
        let worker = worker.map_err(|e| Fault::new(LIMIT, format!("no thread to work with: {e}")))?;
        told.into_iter().for_each(|percent| tell(percent.min(99)));
        worker.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
    })?;
    tell(100);
    Ok(result)
}

/// Works with threads that end with it: none is left between calls, so a process may fork, or let go of the library.
pub fn threaded<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Fault> {
    let pool = rayon::ThreadPoolBuilder::new().build_scoped(|thread| thread.run(), |pool| pool.install(work));
    pool.map_err(|e| Fault::new(LIMIT, format!("no threads to work with: {e}")))
}
