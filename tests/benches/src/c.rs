//! The C interface as a C program meets it: through pointers that nothing can look behind.

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::ptr::null_mut;

use hardpan_c as _; // whose functions these are

/// An answer as C sees it: height first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Answer {
    pub z: i64,
    pub normal: [i64; 3],
    rest: [u64; 4],
}

type Closest = unsafe extern "C" fn(*const c_void, f64, f64, f64, *mut Answer) -> c_int;
#[rustfmt::skip]
type Callback = unsafe extern "C" fn(f64, f64, f64, *mut f64, *mut f64, *mut f64, *mut f64, *mut f64, *mut c_void) -> c_int;

unsafe extern "C" {
    fn hpan_view_size() -> usize;
    fn hpan_open(
        memory: *mut c_void,
        size: usize,
        bytes: *const c_void,
        length: usize,
        view: *mut *mut c_void,
    ) -> c_int;
    fn hpan_closest(view: *const c_void, x: f64, y: f64, z: f64, answer: *mut Answer) -> c_int;
    #[rustfmt::skip]
    fn hpan_vs_terrain_func_f64(
        x: f64,
        y: f64,
        z: f64,
        oz: *mut f64,
        dx: *mut f64,
        dy: *mut f64,
        mu: *mut f64,
        rr: *mut f64,
        user: *mut c_void,
    ) -> c_int;
}

/// An opened image, and the functions that ask it.
pub struct Interface {
    _memory: Vec<u128>,
    view: *mut c_void,
    closest: Closest,
    callback: Callback,
}

impl Interface {
    /// Opens an image that outlives it.
    pub fn open(image: &'static [u8]) -> Self {
        // SAFETY: as the header asks: memory of the size that is told, aligned to 16; the image stays.
        unsafe {
            let mut memory = vec![0u128; hpan_view_size().div_ceil(16)];
            let mut view = null_mut();
            let error =
                hpan_open(memory.as_mut_ptr().cast(), memory.len() * 16, image.as_ptr().cast(), image.len(), &mut view);
            assert_eq!(error, 0, "an image just built");
            Interface {
                _memory: memory,
                view,
                closest: black_box(hpan_closest),
                callback: black_box(hpan_vs_terrain_func_f64),
            }
        }
    }

    /// `hpan_closest`.
    #[inline(always)]
    pub fn closest(&self, [x, y, z]: [f64; 3]) -> Answer {
        let mut answer = Answer { z: 0, normal: [0; 3], rest: [0; 4] };
        // SAFETY: the view is open.
        unsafe { (self.closest)(self.view, x, y, z, &mut answer) };
        answer
    }

    /// The callback's five outputs, and whether there is ground.
    #[inline(always)]
    pub fn callback(&self, [x, y, z]: [f64; 3]) -> ([f64; 5], bool) {
        let [mut a, mut b, mut c, mut d, mut e] = [0.0; 5];
        // SAFETY: the view is open.
        let found = unsafe { (self.callback)(x, y, z, &mut a, &mut b, &mut c, &mut d, &mut e, self.view) };
        ([a, b, c, d, e], found != 0)
    }
}
