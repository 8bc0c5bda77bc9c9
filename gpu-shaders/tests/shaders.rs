//! The shaders without a graphics card: they are valid, whole numbers only, and come out in the languages of all
//! drivers.

use hardpan_shaders::wgsl::{GROUP, MODULES, Module};
use naga::front::wgsl;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Expression, Literal, ScalarKind, Statement, StorageAccess, TypeInner};

/// Storage of a group that every device has.
const GROUP_BYTES: u32 = 16 << 10;

fn parsed(module: &Module) -> (naga::Module, ModuleInfo) {
    let text = module.text();
    let parsed = wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}: {}", module.name, e.emit_to_string(&text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&parsed)
        .unwrap_or_else(|e| panic!("{}: {}", module.name, e.emit_to_string(&text)));
    (parsed, info)
}

#[test]
fn modules_are_valid_without_any_capability() {
    MODULES.iter().for_each(|module| drop(parsed(module)));
}

#[test]
fn numbers_are_whole() {
    for module in MODULES {
        let (parsed, _) = parsed(module);
        for (_, of) in parsed.types.iter() {
            let scalar = match of.inner {
                TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } | TypeInner::Atomic(scalar) => scalar,
                TypeInner::Matrix { .. } => panic!("{}: a matrix", module.name),
                _ => continue,
            };
            assert!(matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint | ScalarKind::Bool), "{}", module.name);
            assert!(scalar.kind == ScalarKind::Bool || scalar.width == 4, "{}: {scalar:?}", module.name);
        }
    }
}

#[test]
fn shaders_come_out_in_the_languages_of_drivers() {
    for module in MODULES {
        let (parsed, info) = parsed(module);
        let spirv = naga::back::spv::write_vec(&parsed, &info, &naga::back::spv::Options::default(), None);
        assert!(spirv.unwrap_or_else(|e| panic!("{}: {e}", module.name)).len() > 100, "{}", module.name);
        let options = naga::back::msl::Options { fake_missing_bindings: true, ..Default::default() };
        let (metal, _) = naga::back::msl::write_string(&parsed, &info, &options, &Default::default())
            .unwrap_or_else(|e| panic!("{}: {e}", module.name));
        let options = naga::back::hlsl::Options { fake_missing_bindings: true, ..Default::default() };
        let mut hlsl = String::new();
        naga::back::hlsl::Writer::new(&mut hlsl, &options, &Default::default())
            .write(&parsed, &info, None)
            .unwrap_or_else(|e| panic!("{}: {e}", module.name));
        for kernel in module.kernels {
            assert!(metal.contains(kernel.entry) && hlsl.contains(kernel.entry), "{} {}", module.name, kernel.entry);
        }
    }
}

/// Each entry point is listed once, uses exactly the bindings that are listed, at most eight, and no more storage than
/// any group has.
#[test]
fn entry_points_use_what_is_listed() {
    for module in MODULES {
        let (parsed, info) = parsed(module);
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(parsed.to_ctx()).unwrap();
        let of_module: Vec<&str> = parsed.entry_points.iter().map(|e| e.name.as_str()).collect();
        let listed: Vec<&str> = module.kernels.iter().map(|k| k.entry).collect();
        assert_eq!(of_module, listed, "{}", module.name);
        for (i, (entry, kernel)) in parsed.entry_points.iter().zip(module.kernels).enumerate() {
            assert_eq!(u64::from(entry.workgroup_size[0]), GROUP, "{}", entry.name);
            assert_eq!(entry.workgroup_size[1..], [1, 1], "{}", entry.name);
            let used = info.get_entry_point(i);
            let (mut read, mut write, mut bytes) = (Vec::new(), Vec::new(), 0);
            for (_, global) in parsed.global_variables.iter().filter(|(handle, _)| !used[*handle].is_empty()) {
                match global.space {
                    AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => {
                        write.push(global.binding.as_ref().unwrap().binding)
                    }
                    AddressSpace::Storage { .. } => read.push(global.binding.as_ref().unwrap().binding),
                    AddressSpace::WorkGroup => bytes += layouter[global.ty].size,
                    _ => {}
                }
            }
            read.sort_unstable();
            write.sort_unstable();
            assert_eq!((&read[..], &write[..]), (kernel.read, kernel.write), "{}", entry.name);
            assert!(read.len() + write.len() <= 8, "{}", entry.name);
            assert!(bytes <= GROUP_BYTES, "{}: {bytes} bytes", entry.name);
        }
    }
}

#[test]
fn parameters_lie_where_shaders_read_them() {
    for module in MODULES {
        let (parsed, _) = parsed(module);
        let of = parsed.types.iter().find(|(_, of)| of.name.as_deref() == Some("Params"));
        let TypeInner::Struct { members, span } = &of.expect("parameters").1.inner else { panic!("no struct") };
        let fields: Vec<(&str, usize)> =
            members.iter().map(|m| (m.name.as_deref().unwrap_or(""), m.offset as usize)).collect();
        assert_eq!((&fields[..], *span as usize), (module.fields, module.size), "{}", module.name);
        assert_eq!(span % 16, 0, "{}", module.name);
    }
}

/// A barrier stands at the top of a function or in loops, no thread leaves before it, and each loop ends by a count.
#[test]
fn barriers_are_uniform_and_loops_are_bounded() {
    let (mut barriers, mut loops) = (0, 0);
    for module in MODULES {
        let (parsed, _) = parsed(module);
        let entries = parsed.entry_points.iter().map(|e| (&e.name[..], &e.function));
        let functions = parsed.functions.iter().map(|(_, f)| (f.name.as_deref().unwrap_or(""), f));
        for (name, function) in entries.chain(functions) {
            let at = format!("{} {name}", module.name);
            let mut block = Checked { at: &at, module: &parsed, function, barriers: 0, loops: 0, has_left: false };
            block.see(&function.body, true);
            (barriers, loops) = (barriers + block.barriers, loops + block.loops);
        }
    }
    // as many as the texts have
    let texts: String = MODULES.iter().map(Module::text).collect();
    assert_eq!(barriers, texts.matches("workgroupBarrier()").count());
    assert_eq!(loops, texts.matches("for (var").count());
    assert!(barriers >= 7 && !texts.contains("while") && !texts.contains("loop {"));
}

struct Checked<'a> {
    at: &'a str,
    module: &'a naga::Module,
    function: &'a naga::Function,
    barriers: usize,
    loops: usize,
    /// Whether some thread may have left the function.
    has_left: bool,
}

impl Checked<'_> {
    fn see(&mut self, block: &naga::Block, is_uniform: bool) {
        for statement in block {
            match statement {
                Statement::ControlBarrier(_) => {
                    self.barriers += 1;
                    assert!(is_uniform && !self.has_left, "{}: a barrier that not all threads reach", self.at);
                }
                Statement::Block(inner) => self.see(inner, is_uniform),
                Statement::If { accept, reject, .. } => {
                    self.see(accept, false);
                    self.see(reject, false);
                }
                Statement::Switch { cases, .. } => cases.iter().for_each(|case| self.see(&case.body, false)),
                Statement::Loop { body, continuing, break_if } => {
                    self.loops += 1;
                    assert!(break_if.is_none(), "{}: a loop without a count", self.at);
                    let test = body.iter().position(|s| matches!(s, Statement::If { .. }));
                    let test = test.unwrap_or_else(|| panic!("{}: a loop without a test", self.at));
                    let Statement::If { condition, reject, .. } = &body[test] else { unreachable!() };
                    assert!(self.is_bounded(*condition), "{}: a loop whose bound is no constant", self.at);
                    assert!(matches!(reject[..], [Statement::Break]), "{}: a test that ends nothing", self.at);
                    let rest: naga::Block = body.iter().skip(test + 1).cloned().collect::<Vec<_>>().into();
                    // a loop that some threads leave early has no barrier
                    self.see(&rest, is_uniform && !leaves(&rest));
                    self.see(continuing, is_uniform);
                }
                Statement::Return { .. } if !is_uniform => self.has_left = true,
                _ => {}
            }
        }
    }

    /// Whether it says "less than" a number that stands in the text.
    fn is_bounded(&self, condition: naga::Handle<Expression>) -> bool {
        let Expression::Binary { op: naga::BinaryOperator::Less, right, .. } = self.function.expressions[condition]
        else {
            return false;
        };
        let bound = match self.function.expressions[right] {
            Expression::Literal(literal) => literal,
            Expression::Constant(constant) => {
                match self.module.global_expressions[self.module.constants[constant].init] {
                    Expression::Literal(literal) => literal,
                    _ => return false,
                }
            }
            _ => return false,
        };
        // far below the rounds after which a software driver ends all loops
        matches!(bound, Literal::U32(0..=64) | Literal::I32(0..=64))
    }
}

/// Whether a thread can leave the loop around a block.
fn leaves(block: &naga::Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Break | Statement::Continue | Statement::Return { .. } => true,
        Statement::Block(inner) => leaves(inner),
        Statement::If { accept, reject, .. } => leaves(accept) || leaves(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| leaves(&case.body)),
        _ => false,
    })
}

/// The check of barriers finds what it looks for.
#[test]
fn barriers_that_not_all_threads_reach_are_found() {
    let head = "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {";
    for (body, is_right) in [
        ("workgroupBarrier();", true),
        ("for (var k = 0u; k < 4u; k++) { workgroupBarrier(); }", true),
        ("if (i > 3u) { workgroupBarrier(); }", false),
        ("if (i > 3u) { return; } workgroupBarrier();", false),
        ("for (var k = 0u; k < i; k++) { }", false),
        ("for (var k = 0u; k < 4u; k++) { if (i == k) { break; } workgroupBarrier(); }", false),
        ("for (var k = 0u; k < 70000u; k++) { }", false),
    ] {
        let parsed = wgsl::parse_str(&format!("{head}{body}}}")).unwrap();
        let function = &parsed.entry_points[0].function;
        let check = || {
            let mut block = Checked { at: body, module: &parsed, function, barriers: 0, loops: 0, has_left: false };
            block.see(&function.body, true);
        };
        assert_eq!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_ok(), is_right, "{body}");
    }
}
