//! The files of `cmake --install` serve CMake's `find_package`, pkg-config, and the linker by itself.

use super::*;

/// A command's stdout; it must end well.
fn ask(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let [out, complaints] = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert!(output.status.success(), "{command:?}:\n{out}\n{complaints}");
    out
}

/// Whether programs are here; without them the test is left out, but not where nothing may be.
fn here(programs: &[&str]) -> bool {
    let missing: Vec<&&str> = programs.iter().filter(|p| Command::new(p).arg("--version").output().is_err()).collect();
    if !missing.is_empty() {
        verification::skipped(&format!("{missing:?} are not installed"));
    }
    missing.is_empty()
}

const PROGRAM: &str = "#include <hardpan.h>\n#include <hpan_vs.h>\n#include <stdio.h>\nint main(void) { puts(hpan_error_text(3)); return 0; }\n";
const PROJECT: &str = "cmake_minimum_required(VERSION 3.16)\nproject(user C)\nfind_package(hardpan 0.1 REQUIRED)\n\
    foreach(kind shared static)\nadd_executable(${kind} main.c)\ntarget_link_libraries(${kind} hardpan::${kind})\nendforeach()\n";

#[test]
fn by_18_installed_library_is_found_by_cmake_and_by_pkg_config() {
    if !here(&["cmake", "pkg-config", "cc"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-install");
    _ = fs::remove_dir_all(&folder);
    let [build, prefix, user] = ["build", "prefix", "user"].map(|name| folder.join(name));
    fs::create_dir_all(&user).unwrap();
    // the libraries that cargo has just built
    let libraries = folder.join("libraries");
    fs::create_dir_all(libraries.join("deps")).unwrap(); // as cargo leaves them
    for name in ["libhardpan_c.a", "libhardpan_c.so"] {
        fs::copy(env::current_exe().unwrap().with_file_name(name), libraries.join(name)).unwrap();
    }
    let cmake = || Command::new("cmake");
    ask(cmake()
        .arg("-S")
        .arg(interface())
        .arg("-B")
        .arg(&build)
        .arg(format!("-DHARDPAN_LIBRARIES={}", libraries.display())));
    ask(cmake().arg("--build").arg(&build));
    ask(cmake().arg("--install").arg(&build).arg("--prefix").arg(&prefix));

    fs::write(user.join("main.c"), PROGRAM).unwrap();
    fs::write(user.join("CMakeLists.txt"), PROJECT).unwrap();
    let to = user.join("build");
    ask(cmake().arg("-S").arg(&user).arg("-B").arg(&to).arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    ask(cmake().arg("--build").arg(&to));
    for kind in ["shared", "static"] {
        assert_eq!(ask(&mut Command::new(to.join(kind))), "the handle was closed\n", "{kind}");
    }

    let packages = prefix.join("lib/pkgconfig");
    let mut query = Command::new("pkg-config");
    let flags = ask(query.args(["--cflags", "--libs", "hardpan"]).env("PKG_CONFIG_PATH", &packages));
    let program = user.join("by-pkg-config");
    ask(Command::new("cc").arg("-o").arg(&program).arg(user.join("main.c")).args(flags.split_whitespace()));
    let mut program = Command::new(&program);
    assert_eq!(ask(program.env("LD_LIBRARY_PATH", prefix.join("lib"))), "the handle was closed\n");
    let mut version = Command::new("pkg-config");
    let version = ask(version.args(["--modversion", "hardpan"]).env("PKG_CONFIG_PATH", &packages));
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
    let mut installed: Vec<_> = fs::read_dir(prefix.join("lib")).unwrap().map(|e| e.unwrap().file_name()).collect();
    installed.sort();
    assert_eq!(installed, ["cmake", "libhardpan_c.a", "libhardpan_c.so", "pkgconfig"]);

    // a deeper folder of libraries, and none to install
    let deep = |libraries: &Path| {
        let mut configure = cmake();
        configure.arg("-S").arg(interface()).arg("-B").arg(&build).arg("-DCMAKE_INSTALL_LIBDIR=lib/deep");
        ask(configure.arg(format!("-DHARDPAN_LIBRARIES={}", libraries.display())));
        cmake().arg("--install").arg(&build).arg("--prefix").arg(folder.join("deep")).output().unwrap()
    };
    assert!(deep(&libraries).status.success());
    let mut query = Command::new("pkg-config");
    let packages = folder.join("deep/lib/deep/pkgconfig");
    let flags = ask(query.args(["--cflags-only-I", "--libs-only-L", "hardpan"]).env("PKG_CONFIG_PATH", packages));
    let found: Vec<PathBuf> = flags.split_whitespace().map(|f| fs::canonicalize(&f[2..]).unwrap()).collect();
    let wanted = ["include", "lib/deep"].map(|name| fs::canonicalize(folder.join("deep").join(name)).unwrap());
    assert_eq!(found, wanted);
    assert!(!deep(&folder.join("missing")).status.success());
}

/// A program that was linked with the library's path starts where the library lies elsewhere.
#[test]
#[cfg(target_os = "linux")]
fn by_18_vt_80_programs_linked_by_path_find_the_library_elsewhere() {
    if !here(&["cc", "readelf"]) {
        return;
    }
    const VS: &str = "#include <VsTerrain.h>\nint main(void) { vs_terrain_handle t = vs_terrain_create(1); \
        printf(\"%g\\n\", vs_terrain_get_version(t)); return vs_terrain_destroy(t) ? 0 : 1; }\n";
    let vs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../builder/c-abi/include");
    for (library, headers, program, said) in [
        ("libhardpan_c.so", interface().join("include"), PROGRAM, "the handle was closed\n"),
        ("libhpan_vsterrain.so", vs, VS, "1\n"),
    ] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-by-path").join(library);
        _ = fs::remove_dir_all(&folder);
        let [built, moved] = ["built", "moved"].map(|name| folder.join(name));
        fs::create_dir_all(&built).unwrap();
        fs::create_dir_all(&moved).unwrap();
        fs::copy(env::current_exe().unwrap().with_file_name(library), built.join(library)).unwrap();
        let (source, main) = (folder.join("main.c"), moved.join("main"));
        fs::write(&source, program).unwrap();
        ask(Command::new("cc").arg("-I").arg(headers).arg(&source).arg(built.join(library)).arg("-o").arg(&main));
        fs::rename(built.join(library), moved.join(library)).unwrap();
        for (file, kind) in [(moved.join(library), "(SONAME)"), (main.clone(), "(NEEDED)")] {
            let dynamic = ask(Command::new("readelf").arg("-d").arg(&file));
            let names =
                dynamic.lines().filter(|line| line.contains(kind)).filter_map(|line| line.split(['[', ']']).nth(1));
            assert!(names.clone().any(|name| name == library), "{}: {:?}", file.display(), names.collect::<Vec<_>>());
        }
        assert_eq!(ask(Command::new(&main).env("LD_LIBRARY_PATH", &moved).current_dir("/")), said);
    }
}
