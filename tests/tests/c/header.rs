//! The header is what cbindgen makes of the crate, and compiles in C and C++ without a warning.

use super::*;
use hardpan::{ContactStatus, LeafKind, RayStatus, Reach, Status};
use std::collections::BTreeMap;

/// Sources of the interface, in the order that the header has; `lib` has nothing for it.
const SOURCES: [&str; 11] =
    ["types", "image", "convert", "query", "rays", "wheel", "bounds", "cursor", "verify", "vs", "ffi"];

#[test]
fn header_is_current() {
    let folder = interface();
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let sources = SOURCES.map(|name| folder.join(format!("src/{name}.rs")));
    // the outcomes of queries stand in the kernel's tables
    let outcomes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outcomes.rs");
    fs::write(&outcomes, [statuses(), reaches(), leaves(), ray_statuses(), contact_statuses()].concat()).unwrap();
    let all = [&sources[0], &outcomes].into_iter().chain(&sources[1..]);
    let builder = all.fold(cbindgen::Builder::new().with_config(config), |b, path| b.with_src(path));
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = plain(&String::from_utf8(made).unwrap());
    let path = folder.join("include/hardpan.h");
    if env::var_os("HARDPAN_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    let line = made.lines().zip(there.lines()).position(|(a, b)| a != b);
    assert!(made == there, "{}, line {line:?}: HARDPAN_BLESS=1 writes it anew", path.display());
}

/// `hpan_status` as cbindgen reads it.
fn statuses() -> String {
    let all = Status::ALL.iter().map(|s| (s.code(), s.symbol(), s.meaning()));
    enumeration("hpan_status", "HPAN_", "What a query came to: `status` of an answer.", all)
}

/// `hpan_reach` as cbindgen reads it.
fn reaches() -> String {
    let all = Reach::ALL.iter().map(|r| (r.code(), r.symbol(), r.meaning()));
    enumeration("hpan_reach", "HPAN_", "Which stage of the search answered: `reach` of a hit.", all)
}

/// `hpan_leaf` as cbindgen reads it.
fn leaves() -> String {
    let all = LeafKind::ALL.iter().map(|l| (l.code(), l.symbol(), l.meaning()));
    enumeration("hpan_leaf", "HPAN_LEAF_", "What holds the surface: `leaf` of a hit.", all)
}

/// `hpan_contact_status` as cbindgen reads it.
fn contact_statuses() -> String {
    let all = ContactStatus::ALL.iter().map(|s| (s.code(), s.symbol(), s.meaning()));
    enumeration("hpan_contact_status", "HPAN_CONTACT_", "What a wheel, or a point of a chassis, came to.", all)
}

/// `hpan_ray_status` as cbindgen reads it.
fn ray_statuses() -> String {
    let all = RayStatus::ALL.iter().map(|s| (s.code(), s.symbol(), s.meaning()));
    enumeration("hpan_ray_status", "HPAN_RAY_", "What a ray came to.", all)
}

fn enumeration<'a>(
    name: &str,
    prefix: &str,
    meaning: &str,
    all: impl Iterator<Item = (u8, &'a str, &'a str)>,
) -> String {
    let all: String =
        all.map(|(code, symbol, meaning)| format!("/// {meaning}\n{prefix}{symbol} = {code},\n")).collect();
    format!("/// {meaning}\n#[repr(u8)]\npub enum {name} {{\n{all}}}\n")
}

/// The header with pointers in the words of C: for `In<T>` and `Out<T>` cbindgen makes types of their own.
fn plain(header: &str) -> String {
    let mut pointers = BTreeMap::new();
    let mut kept: Vec<&str> = Vec::new();
    for line in header.lines() {
        let typedef = line.strip_prefix("typedef ").and_then(|l| l.strip_suffix(';')).and_then(|l| l.rsplit_once('*'));
        match typedef {
            Some((to, name)) if name.starts_with("In_") || name.starts_with("Out_") => {
                pointers.insert(name, format!("{}*", to));
                // with its comment, and the line before
                while kept.last().is_some_and(|l| l.starts_with("//") || l.is_empty()) {
                    kept.pop();
                }
            }
            _ => kept.push(line),
        }
    }
    let mut text = kept.join("\n") + "\n";
    while text.contains("In_") || text.contains("Out_") {
        let before = text.clone();
        for (name, pointer) in pointers.iter().rev() {
            text = text.replace(&format!("({name} "), &format!("({pointer}"));
            text = text.replace(&format!(" {name} "), &format!(" {pointer}"));
            text = text.replace(&format!("\n{name} "), &format!("\n{pointer}"));
            text = text.replace(&format!(" {name}*"), &format!(" {pointer}*"));
        }
        assert!(text != before, "a pointer is left in {text}");
    }
    text
}

#[test]
fn by_18_vt_09_headers_compile_as_c99_and_cpp17_and_without_exceptions() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let all = "#include <hardpan.h>\n#include <hpan_vs.h>\nint main(void) { return hpan_abi_version() != HPAN_ABI_VERSION; }\n";
    let c = folder.join("c-headers.c");
    fs::write(&c, all).unwrap();
    run(&compile("headers-c", &c, &["-Wstrict-prototypes"]), &[], &[]);
    run(&compile("headers-c-float", &c, &["-DHPAN_VS_REAL=float"]), &[], &[]);
    let cpp = folder.join("c-headers.cpp");
    fs::write(&cpp, all.replace("<hpan_vs.h>", "<hpan_vs.h>\n#include <hardpan.hpp>")).unwrap();
    run(&compile("headers-cpp", &cpp, &[]), &[], &[]);
    run(&compile("headers-cpp-bare", &cpp, &["-fno-exceptions", "-fno-rtti"]), &[], &[]);
}

#[test]
fn by_18_handles_of_cpp_close_themselves_with_exceptions_and_without() {
    let (image, path) = image("handles", &hardpan_builder::demo::fixtures::bridge());
    let terrain = hardpan::Terrain::open(&image).unwrap();
    let answer = terrain.closest([0.0, 0.0, 5.0]);
    let wanted = format!("{} {}\n", terrain.z_f64(&answer.hit), terrain.surface(&answer)[0]);
    for (name, flags) in [("handles", &[][..]), ("handles-bare", &["-fno-exceptions", "-fno-rtti"])] {
        let text = run(&compile(name, &source("handles.cpp"), flags), &[&path], &[]);
        let figures = |t: &str| t.split_whitespace().map(|w| w.parse().unwrap()).collect::<Vec<f64>>();
        assert_eq!(figures(&text), figures(&wanted), "{flags:?}");
    }
}

/// The programs of the page compile, each by itself or within a function.
#[test]
fn c_of_the_readme_compiles() {
    let page = fs::read_to_string(interface().join("README.md")).unwrap();
    let blocks: Vec<&str> = page.split("```c\n").skip(1).map(|b| b.split("```").next().unwrap()).collect();
    let [program, stack] = blocks[..] else { panic!("{} blocks", blocks.len()) };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-readme.c");
    let rest = "#include <hpan_vs.h>\n#include <stdlib.h>\n#include \"vs_api.h\"\n\
        void vs_road_install_terrain_function(terrain_func_t f, void *u) { (void)f, (void)u; }\n\
        static int my_ground(double x, double y, double z, double *oz, double *dx, double *dy, double *mu, double *rr, void *u) {\n\
        (void)x, (void)y, (void)z, (void)u; *oz = *dx = *dy = *mu = *rr = 0; return 0; }\n";
    let main = "int main(void) { double my_data = height(NULL, 0, 0, 0, 0); size_t size = hpan_stack_size(); void *memory = malloc(size);\n\
        const hpan_view *view = NULL; hpan_stack *stack;\n";
    fs::write(
        &file,
        format!("{program}{rest}{main}{}free(memory); return 0; }}\n", stack.replace(", 2, &stack", ", 1, &stack")),
    )
    .unwrap();
    let include = format!("-I{}", source("").display());
    run(&compile("readme", &file, &["-std=c11", &include]), &[], &[]);
}

/// Every function of the header stands in the library, and the header has every function of the library.
#[test]
fn by_18_header_and_library_have_the_same_functions() {
    let header = fs::read_to_string(interface().join("include/hardpan.h")).unwrap();
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|l| l.contains('(') && !l.starts_with([' ', '/', '#', 't']))
        .filter_map(|l| l.split('(').next()?.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("hpan_"))
        .collect();
    declared.sort_unstable();
    let library = env::current_exe().unwrap().parent().unwrap().join("libhardpan_c.so");
    let symbols = Command::new("nm").args(["-D", "--defined-only"]).arg(&library).output().unwrap().stdout;
    let symbols = String::from_utf8(symbols).unwrap();
    let mut defined: Vec<&str> = symbols.lines().filter_map(|l| l.rsplit(' ').next()).collect();
    defined.retain(|name| name.starts_with("hpan_"));
    defined.sort_unstable();
    assert!(declared.len() > 60, "{declared:?}");
    assert_eq!(declared, defined);
}

/// `unsafe` stands in one file; elsewhere only the names of functions are.
#[test]
fn what_is_unsafe_stands_in_one_file_and_says_why() {
    for name in SOURCES {
        let text = fs::read_to_string(interface().join(format!("src/{name}.rs"))).unwrap();
        let mut before = "";
        for line in text.lines().map(str::trim) {
            if line.contains("unsafe") && !line.starts_with("//") && line != "#[unsafe(no_mangle)]" {
                assert_eq!(name, "ffi", "{line}");
                assert!(before.starts_with("// SAFETY:"), "no SAFETY line before {line}");
            }
            before = if line.starts_with("//") && before.starts_with("// SAFETY:") { before } else { line };
        }
    }
}
