//! The terrain callback of VehicleSim, for an image or a stack of surfaces.

use crate::ffi::{Handle, In, Out};
use crate::hpan_error::{self, *};
use crate::image::{View, hpan_view, run};
use core::ffi::c_void;
use hardpan::{Ground, Surface};

/// Most surfaces of a stack.
pub const HPAN_STACK_MOST: usize = 8;

/// A function of the user's, shaped as VehicleSim's `terrain_func_t` with doubles: it returns nonzero where it has
/// ground.
pub type hpan_surface_function_f64 = Option<
    extern "C" fn(
        in_x: f64,
        in_y: f64,
        in_z: f64,
        out_z: Out<f64>,
        out_dzdx: Out<f64>,
        out_dzdy: Out<f64>,
        out_mu: Out<f64>,
        out_rr: Out<f64>,
        userData: Out<c_void>,
    ) -> core::ffi::c_int,
>;

/// `hpan_surface_function_f64` with floats.
pub type hpan_surface_function_f32 = Option<
    extern "C" fn(
        in_x: f32,
        in_y: f32,
        in_z: f32,
        out_z: Out<f32>,
        out_dzdx: Out<f32>,
        out_dzdy: Out<f32>,
        out_mu: Out<f32>,
        out_rr: Out<f32>,
        userData: Out<c_void>,
    ) -> core::ffi::c_int,
>;

/// A surface of a stack: an image, if `view` is not null, else the first function that is not null.
#[repr(C)]
pub struct hpan_surface {
    /// An open view, or null. It stays open until the stack is closed.
    pub view: In<hpan_view>,
    /// A function, or null. In metres; what it does not write is zero.
    pub function_f64: hpan_surface_function_f64,
    /// A function in single precision, or null.
    pub function_f32: hpan_surface_function_f32,
    /// What the function gets back.
    pub userData: Out<c_void>,
}

impl Surface for View {
    fn ground(&self, p: [f64; 3]) -> Ground {
        self.ask(&p, |t, &p| t.ground(p))
    }
}

impl Surface for hpan_surface {
    fn ground(&self, p: [f64; 3]) -> Ground {
        match self.view.open() {
            Ok(view) => return view.ground(p),
            Err(HPAN_ERROR_NULL) => {}
            Err(_) => return Ground::NONE, // closed since
        }
        match (self.function_f64, self.function_f32) {
            (Some(function), _) => {
                let ([x, y, z], [mut to_z, mut dx, mut dy, mut mu, mut rr]) = (p, [0.0; 5]);
                let [a, b, c, d, e] = [&mut to_z, &mut dx, &mut dy, &mut mu, &mut rr].map(Out::lend);
                let found = function(x, y, z, a, b, c, d, e, self.userData.again()) != 0;
                Ground { found, z: to_z, slope: [dx, dy], mu, rolling: rr }
            }
            (None, Some(function)) => {
                let ([x, y, z], [mut to_z, mut dx, mut dy, mut mu, mut rr]) = (p.map(|v| v as f32), [0.0f32; 5]);
                let [a, b, c, d, e] = [&mut to_z, &mut dx, &mut dy, &mut mu, &mut rr].map(Out::lend);
                let found = function(x, y, z, a, b, c, d, e, self.userData.again()) != 0;
                let [z, dx, dy, mu, rolling] = [to_z, dx, dy, mu, rr].map(f64::from);
                Ground { found, z, slope: [dx, dy], mu, rolling }
            }
            (None, None) => Ground::NONE,
        }
    }
}

/// Surfaces in order: the first that has ground answers; where none has, the last does, with its defaults.
pub struct hpan_stack(());

/// What a stack holds.
pub struct Stack {
    surfaces: [hpan_surface; HPAN_STACK_MOST],
    count: usize,
}

impl Handle for hpan_stack {
    type Inside = Stack;
    const MAGIC: [u8; 8] = *b"hpanstck";
}

impl Surface for Stack {
    fn ground(&self, p: [f64; 3]) -> Ground {
        let mut last = Ground::NONE;
        for surface in self.surfaces.iter().take(self.count) {
            last = surface.ground(p);
            if last.found {
                break;
            }
        }
        last
    }
}

/// Bytes of memory that a stack needs. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_stack_size() -> usize {
    hpan_stack::SIZE
}

/// What the address of that memory is a multiple of. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_stack_align() -> usize {
    hpan_stack::ALIGN
}

/// Makes a stack of 1 to `HPAN_STACK_MOST` surfaces, which are copied; its address is written to `stack`, null if it
/// fails.
///
/// Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`, `_ROOM`, `_COUNT`; `_HANDLE` or `_CLOSED` of a view; `_INDEX` if a surface
/// is neither a view nor a function. Threads: one for each memory.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_stack_start(
    memory: Out<c_void>,
    size: usize,
    surfaces: In<hpan_surface>,
    count: usize,
    stack: Out<Out<hpan_stack>>,
) -> hpan_error {
    memory.make(size, stack, || {
        if count == 0 || count > HPAN_STACK_MOST {
            return Err(HPAN_ERROR_COUNT);
        }
        let mut all = [const { hpan_surface::NONE }; HPAN_STACK_MOST];
        for (to, from) in all.iter_mut().zip(surfaces.surfaces(count)?) {
            match (from.view.open(), from.function_f64, from.function_f32) {
                (Ok(_), ..) | (Err(HPAN_ERROR_NULL), Some(_), _) | (Err(HPAN_ERROR_NULL), _, Some(_)) => {}
                (Err(HPAN_ERROR_NULL), None, None) => return Err(HPAN_ERROR_INDEX),
                (Err(e), ..) => return Err(e),
            }
            *to = from.again();
        }
        Ok(Stack { surfaces: all, count })
    })
}

/// Ends a stack; its memory, and the views that it had, are the caller's again.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one, while nobody else uses the stack.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_stack_close(stack: Out<hpan_stack>) -> hpan_error {
    run(|| stack.close())
}

impl hpan_surface {
    const NONE: Self = hpan_surface { view: In::none(), function_f64: None, function_f32: None, userData: Out::none() };

    /// A copy.
    fn again(&self) -> Self {
        let hpan_surface { function_f64, function_f32, .. } = *self;
        hpan_surface { view: self.view.again(), function_f64, function_f32, userData: self.userData.again() }
    }
}

/// The ground of what `userData` is: an image, a stack, or neither.
#[inline(always)]
fn ground(user: &Out<c_void>, p: [f64; 3]) -> Ground {
    if let Ok(view) = user.as_handle::<hpan_view>().open() {
        return view.ground(p);
    }
    user.as_handle::<hpan_stack>().open().map_or(Ground::NONE, |stack| stack.ground(p))
}

/// VehicleSim's terrain callback with doubles: the nearest ground straight above or below, in metres. `userData` is an
/// open view or stack.
///
/// Returns 1 where there is ground, else 0. All outputs are written either way: without ground the height of the
/// fall-back, no slope, and the image's default friction and rolling resistance; if `userData` is neither, all zero. An
/// output that is null is left out. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_vs_terrain_func_f64(
    in_x: f64,
    in_y: f64,
    in_z: f64,
    out_z: Out<f64>,
    out_dzdx: Out<f64>,
    out_dzdy: Out<f64>,
    out_mu: Out<f64>,
    out_rr: Out<f64>,
    userData: Out<c_void>,
) -> core::ffi::c_int {
    let Ground { found, z, slope: [dx, dy], mu, rolling } = ground(&userData, [in_x, in_y, in_z]);
    for (to, value) in [(out_z, z), (out_dzdx, dx), (out_dzdy, dy), (out_mu, mu), (out_rr, rolling)] {
        _ = to.put(value);
    }
    found.into()
}

/// `hpan_vs_terrain_func_f64` with floats: positions are widened exactly, outputs rounded once. Threads: any number at
/// a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_vs_terrain_func_f32(
    in_x: f32,
    in_y: f32,
    in_z: f32,
    out_z: Out<f32>,
    out_dzdx: Out<f32>,
    out_dzdy: Out<f32>,
    out_mu: Out<f32>,
    out_rr: Out<f32>,
    userData: Out<c_void>,
) -> core::ffi::c_int {
    let Ground { found, z, slope: [dx, dy], mu, rolling } = ground(&userData, [in_x, in_y, in_z].map(f64::from));
    for (to, value) in [(out_z, z), (out_dzdx, dx), (out_dzdy, dy), (out_mu, mu), (out_rr, rolling)] {
        _ = to.put(value as f32);
    }
    found.into()
}
