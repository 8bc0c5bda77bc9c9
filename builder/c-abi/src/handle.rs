//! Handles: numbers of a table, each with its terrain and its last error.

use crate::contents::Contents;
use crate::types::{Fault, vs_terrain_error, vs_terrain_error::*};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

/// The handle that C holds: the number of a terrain, or null.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct vs_terrain_handle(usize);

/// All terrains that were created and not destroyed. Numbers are never given twice.
static LIVE: RwLock<Live> = RwLock::new(Live { next: 0, all: BTreeMap::new() });

struct Live {
    next: usize,
    all: BTreeMap<vs_terrain_handle, Arc<Entry>>,
}

/// A terrain, and why the last call failed that did.
struct Entry {
    contents: Mutex<Contents>,
    /// Apart from the contents: a call made by a callback fails too, and says why.
    error: Mutex<LastError>,
}

/// The last error, as C reads it.
#[derive(Default)]
struct LastError {
    code: vs_terrain_error,
    text: CString,
}

thread_local! {
    /// Errors of calls that have no terrain.
    static NOWHERE: RefCell<LastError> = RefCell::default();
}

/// The locked value; a panic is caught before it could leave a lock poisoned.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LastError {
    fn of(fault: Fault) -> Self {
        // a zero would end the text
        let text = CString::new(fault.text.replace('\0', "\\0")).unwrap_or_default();
        LastError { code: fault.code, text }
    }
}

impl vs_terrain_handle {
    pub const NULL: Self = vs_terrain_handle(0);

    /// The handle of a number: no address that a system gives, so that none is taken for one.
    fn numbered(number: usize) -> Self {
        vs_terrain_handle(1 << (usize::BITS - 1) | number << 1 | 1)
    }

    fn entry(self) -> Option<Arc<Entry>> {
        LIVE.read().unwrap_or_else(PoisonError::into_inner).all.get(&self).cloned()
    }

    /// Why it is none.
    fn refused(self) -> Fault {
        let live = LIVE.read().unwrap_or_else(PoisonError::into_inner);
        let text = if self == Self::NULL {
            "the handle is null; vs_terrain_create makes one"
        } else if (0..live.next).contains(&(self.0 << 1 >> 2)) && Self::numbered(self.0 << 1 >> 2) == self {
            "the handle was destroyed; vs_terrain_create makes a new one"
        } else {
            "this is no handle of vs_terrain_create"
        };
        Fault::new(HANDLE, text)
    }
}

/// A new handle.
pub fn create(contents: Contents) -> vs_terrain_handle {
    let entry = Arc::new(Entry { contents: Mutex::new(contents), error: Mutex::default() });
    let mut live = LIVE.write().unwrap_or_else(PoisonError::into_inner);
    let handle = vs_terrain_handle::numbered(live.next);
    live.next += 1;
    live.all.insert(handle, entry);
    handle
}

/// Ends a handle: it stands for nothing from now on.
pub fn destroy(handle: vs_terrain_handle) -> bool {
    if handle == vs_terrain_handle::NULL {
        return true;
    }
    // that nobody uses it, and that nobody begins to
    let end = |_: &mut Contents| Ok(LIVE.write().unwrap_or_else(PoisonError::into_inner).all.remove(&handle));
    on(handle, None, end).is_some()
}

/// Makes a call on the terrain of a handle, and keeps why it failed.
pub fn on<R>(handle: vs_terrain_handle, failed: R, call: impl FnOnce(&mut Contents) -> Result<R, Fault>) -> R {
    let Some(entry) = handle.entry() else {
        return nowhere(failed, || Err(handle.refused()));
    };
    kept(failed, caught(|| using(&entry, call)), |fault| *held(&entry.error) = LastError::of(fault))
}

/// Makes a call that has no terrain.
pub fn nowhere<R>(failed: R, call: impl FnOnce() -> Result<R, Fault>) -> R {
    kept(failed, caught(call), |fault| NOWHERE.with(|error| *error.borrow_mut() = LastError::of(fault)))
}

/// Makes a call on a terrain with a copy of what another one holds.
pub fn on_both<C>(
    [to, from]: [vs_terrain_handle; 2],
    copy: impl FnOnce(&Contents) -> Result<C, Fault>,
    call: impl FnOnce(&mut Contents, C) -> Result<(), Fault>,
) -> bool {
    on(to, false, |contents| {
        if to == from {
            return Err(Fault::new(ARGUMENT, "a terrain is not merged into itself; give another one as source"));
        }
        let entry =
            from.entry().ok_or_else(|| Fault { text: format!("source: {}", from.refused().text), code: HANDLE })?;
        // at once or not at all, so two that wait for each other are not
        let copied =
            using(&entry, |from| copy(from)).map_err(|e| Fault { text: format!("source: {}", e.text), ..e })?;
        call(contents, copied)?;
        Ok(true)
    })
}

/// A call on a terrain that nobody else uses.
fn using<R>(entry: &Entry, call: impl FnOnce(&mut Contents) -> Result<R, Fault>) -> Result<R, Fault> {
    match entry.contents.try_lock() {
        Ok(mut contents) => call(&mut contents),
        Err(TryLockError::Poisoned(poisoned)) => call(&mut poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {
            let text =
                "another call uses this handle, of another thread or the one whose callback this is; wait for its end";
            Err(Fault::new(BUSY, text))
        }
    }
}

/// A call whose panic is an error.
fn caught<R>(call: impl FnOnce() -> Result<R, Fault>) -> Result<R, Fault> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let text = format!("a fault of this library, please report it: {}", said.unwrap_or("no cause is known"));
        Err(Fault::new(INTERNAL, text))
    })
}

fn kept<R>(failed: R, result: Result<R, Fault>, keep: impl FnOnce(Fault)) -> R {
    match result {
        Ok(value) => value,
        Err(fault) => {
            keep(fault);
            failed
        }
    }
}

/// Code and text of the last error: of this handle, or of this thread's calls that had none.
pub fn last_error(handle: vs_terrain_handle) -> (vs_terrain_error, *const c_char) {
    let said = |error: &LastError| (error.code, error.text.as_ptr());
    match handle.entry() {
        Some(entry) => said(&held(&entry.error)),
        None => NOWHERE.with(|error| said(&error.borrow())),
    }
}
