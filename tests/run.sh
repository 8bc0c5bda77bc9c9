#!/usr/bin/env bash
# All checks: tests/run.sh [STEP...]. Says first what it installs and how long it takes; deletes nothing outside the checkout.
#   style     format, clippy, documentation without warnings
#   tests     tests of kernel, builder, command and the C interface, on fixtures and on real files
#   examples  the examples run, and print what the README shows
#   python    the Python package: its wheel, installed, and its tests
#   cores     the kernel on emulated small cores: same bits, no panic path, instruction counts
#   long      what takes longer and runs only if it is named: torture, profiles, packages, platforms, random, fuzz,
#             c (sanitizers), vs (valgrind, Windows, 50 million triangles)
# HARDPAN_DATA names the folder of real files (default: shared/data beside the checkout).
# HARDPAN_TRIALS names the folder of faulty ground (default: shared/trials beside the checkout).
# What cannot run is skipped, with the reason; with HARDPAN_CI=1 a skip is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
short=(style tests examples python cores)
long=(torture profiles packages platforms random fuzz c vs)
declare -A minutes=([style]=2 [tests]=10 [examples]=0 [python]=2 [cores]=8 [torture]=6 [profiles]=8 [packages]=4 [platforms]=2 [random]=8 [fuzz]=5 [c]=3 [vs]=20)

steps=()
for step in "${@:-short}"; do
    case $step in
    short) steps+=("${short[@]}") ;;
    long) steps+=("${long[@]}") ;;
    *) steps+=("$step") ;;
    esac
done
for step in "${steps[@]}"; do
    if [ -z "${minutes[$step]:-}" ]; then
        echo "tests/run.sh: there is no step $step; steps: ${short[*]} long ${long[*]}" >&2
        exit 2
    fi
done
has() { [[ " ${steps[*]} " == *" $1 "* ]]; }

skip() {
    echo "skipped, because $*"
    echo "$*" >>"$target/skipped.txt"
    [ "${HARDPAN_CI:-0}" != 1 ] || { echo "nothing may be skipped with HARDPAN_CI=1"; exit 1; }
}

target=$PWD/target
export CARGO_TARGET_DIR=$target # all that is deleted lies there
mkdir -p "$target"
rm -f "$target/skipped.txt"
data=${HARDPAN_DATA:-../shared/data}
small="thumbv6m-none-eabi thumbv7em-none-eabihf thumbv8m.main-none-eabihf riscv32imac-unknown-none-elf wasm32-unknown-unknown"
others="x86_64-pc-windows-msvc aarch64-apple-darwin"

# What the steps need and is missing: targets of the compiler, and packages of Debian.
targets=() packages=()
installed() { [ -d "$(rustc --print sysroot)/lib/rustlib/$1" ]; }
need() { command -v "$1" >/dev/null || packages+=("$2"); }
small_cores() { has cores || has profiles; }
for name in $(! small_cores || echo "$small") $(! has platforms || echo "$others") $(! has vs || echo x86_64-pc-windows-gnu); do
    installed "$name" || targets+=("$name")
done
software_driver() { compgen -G '/usr/share/vulkan/icd.d/*lvp*' >/dev/null || compgen -G '/etc/vulkan/icd.d/*lvp*' >/dev/null; }
if has tests && ! software_driver; then
    packages+=(mesa-vulkan-drivers) # the stages on a software driver
fi
if has tests; then need srec_cat srecord; fi # files for flash, read by another program
if has tests || has c || has vs; then # programs in C and C++
    need cc gcc
    need c++ g++
    need cmake cmake
    need pkg-config pkg-config
fi
if has c || has vs; then need valgrind valgrind; fi
if has vs; then # the library for Windows, and what runs it here
    need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
    need wine wine64
    need wine wine
fi
if small_cores; then
    need qemu-system-arm qemu-system-arm
    need qemu-system-riscv32 qemu-system-misc
    need node nodejs
    need arm-none-eabi-gcc gcc-arm-none-eabi # C on a Cortex-M4F
fi
if has python && ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    packages+=(python3-venv)
fi
total=0
for step in "${steps[@]}"; do total=$((total + minutes[$step])); done
echo "Steps: ${steps[*]}; about $total minutes on two cores."
echo "Installs targets by rustup: ${targets[*]:-none}; packages by apt-get: ${packages[*]:-none}."
! has python || echo "Installs into target/python by pip: numpy, pytest, matplotlib; and maturin, to build the wheel."
if [ ${#targets[@]} -gt 0 ] && command -v rustup >/dev/null; then
    rustup target add "${targets[@]}" || echo "could not install all targets"
fi
if [ ${#packages[@]} -gt 0 ] && command -v apt-get >/dev/null; then
    root=()
    [ "$(id -u)" = 0 ] || root=(sudo -n)
    "${root[@]}" apt-get update -qq || echo "could not renew the list of packages"
    for package in "${packages[@]}"; do
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" >/dev/null || echo "could not install $package"
    done
fi

if has tests && ! software_driver; then
    skip "there is no software driver of Vulkan (apt-get install mesa-vulkan-drivers): tests of --backend software are left out"
fi
if [ -z "${XDG_RUNTIME_DIR:-}" ]; then # drivers complain without it
    export XDG_RUNTIME_DIR=$target/runtime
    mkdir -p "$XDG_RUNTIME_DIR"
    chmod 700 "$XDG_RUNTIME_DIR"
fi

[ -d "$data" ] || skip "there is no folder $data (set HARDPAN_DATA): tests of real files are left out"

# Everything is checked and compiled as a release: what one step has compiled serves the next.
style() {
    cargo fmt --all --check
    cargo clippy --locked --workspace --all-targets --release -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet --release
    # what is installed: graphics cards, which the tests have, are left out
    cargo check --locked -p hardpan-builder --release --quiet
    # the library alone, of at most 60 crates
    local alone="--locked -p hardpan-builder --no-default-features"
    cargo check $alone --release --quiet
    [ "$(cargo tree $alone -e normal --prefix none --no-dedupe | sort -u | wc -l)" -le 60 ]
}

# The same packages in every step: then cargo compiles each once.
packages_tested="-p hardpan -p hardpan-shaders -p hardpan-builder -p verification"
tested="cargo test --locked --release $packages_tested"

# Steps that are named next run beside the tests: for most of their time they need one core. Each writes into a log of its own,
# which is shown when its turn comes.
tests() {
    local step
    $tested --no-run
    for step in "${steps[@]:at+1}"; do
        case $step in
        examples) continue ;;
        python | cores) ;;
        *) break ;;
        esac
        set -m # a group of its own, to be ended by
        # tests have limits of time: they go first
        (renice -n 10 -p "$BASHPID" >/dev/null 2>&1 || true; timed "$step") </dev/null >"$target/$step.log" 2>&1 &
        set +m
        running[$step]=$!
    done
    $tested -- --skip torture::
}

examples() {
    local example=$target/example.txt
    $tested --quiet --no-run
    "$target"/release/examples/ground >"$example"
    awk '/^```rust,ignore$/ { code = 1 } /^```$/ && text { exit } text { print } /^```text$/ && code { text = 1 }' README.md |
        diff - "$example"
    "$target"/release/examples/ramp >"$example"
    grep -q 'proven: true' "$example" && tail -n 1 "$example" | grep -qx 'z 0.5 m'
}

# As a user installs it; its library is compiled in the folder of all others.
python() {
    local folder=$target/python
    if [ ! -x "$folder/bin/pip" ] && ! python3 -m venv "$folder"; then
        skip "there is no Python that makes environments (apt-get install python3-venv): the Python package is left out"
        return
    fi
    "$folder/bin/pip" install --quiet --disable-pip-version-check numpy pytest matplotlib
    # the builder without the command is compiled once more: here quickly
    local builder=profile.release.package.hardpan-builder
    MATURIN_PEP517_ARGS="--locked --config $builder.codegen-units=16 --config $builder.opt-level=1" \
        "$folder/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps ./builder/python
    cargo build --locked --release --quiet $packages_tested --example points
    (cd builder/python && HARDPAN_POINTS=$target/release/examples/points "$folder/bin/python" -m pytest --quiet -p no:cacheprovider)
}

cores() { tests/embedded/run.sh; }

# The small cores again, in all profiles.
profiles() { tests/embedded/run.sh --all; }

# ran COMMAND..: tests chosen by name, of which there must be some.
ran() {
    "$@" 2>&1 | tee "$target/ran.txt"
    grep -q '^test result: ok. [1-9]' "$target/ran.txt" || { echo "FAILED: no test ran"; exit 1; }
}

torture() { ran $tested --test command torture::; }

# What would be published, unpacked and built by itself.
packages() {
    local folder=$target/packages crate listed file
    rm -rf "$folder"
    mkdir -p "$folder"
    cargo package --locked --allow-dirty --quiet --no-verify -p hardpan -p hardpan-shaders -p hardpan-builder
    local crates=(hardpan hardpan-shaders hardpan-builder) patches=()
    for crate in "${crates[@]}"; do
        listed=$(cargo package --locked --allow-dirty --list -p $crate)
        for file in README.md LICENSE-MIT LICENSE-APACHE 'examples/[a-z]*\.rs'; do
            grep -qx "$file" <<<"$listed" || { echo "FAILED: the package $crate has no $file"; exit 1; }
        done
        mkdir "$folder/$crate"
        tar -xzf "$target"/package/$crate-[0-9]*.crate -C "$folder/$crate" --strip-components=1
        echo '[workspace]' >>"$folder/$crate/Cargo.toml" # by itself, though it lies in the checkout
        patches+=(--config "patch.crates-io.$crate.path = '$folder/$crate'")
    done
    for crate in "${crates[@]}"; do
        cargo build --quiet --all-targets --manifest-path "$folder/$crate/Cargo.toml" --target-dir "$folder/target" "${patches[@]}"
    done
}

# Without what needs a C compiler for them.
platforms() {
    local other
    for other in $others; do
        installed "$other" || { skip "target $other is not installed (rustup target add $other)"; continue; }
        cargo check --locked --quiet --no-default-features --features hardpan-builder/command -p hardpan -p hardpan-builder \
            --target "$other"
        cargo check --locked --quiet -p hardpan-shaders --features wgpu --target "$other"
        cargo check --locked --quiet -p hardpan-c --target "$other"
        echo "$other: checked"
    done
}

# The random tests with as many scenes as their bars ask for.
random() { HARDPAN_LONG=1 ran $tested --test suite random_; }

fuzz() {
    if cargo +nightly --version >/dev/null 2>&1; then tests/fuzz.sh 120; else skip "there is no nightly toolchain"; fi
}

# Programs in C under the sanitizers of addresses and of undefined behaviour, and under valgrind: no error, no leak. And the library as
# CMake installs it, which needs nothing of the system but a few functions of memory.
c() {
    local folder=$target/c-library missing
    rm -rf "$folder"
    cmake -S kernel/c-abi -B "$folder/build" >/dev/null
    cmake --build "$folder/build"
    cmake --install "$folder/build" --prefix "$folder/installed" >/dev/null
    missing=$(nm -D --undefined-only "$folder/installed/lib/libhardpan_c.so" | grep -vE ' w | (memcpy|memmove|memset|memcmp|bcmp|abort)(@|$)' || true)
    [ -z "$missing" ] || { echo "FAILED: the library needs $missing"; exit 1; }
    cc -std=c99 -I "$folder/installed/include" kernel/c-abi/examples/loop_1khz.c "$folder/installed/lib/libhardpan_c.a" -o "$folder/loop_1khz"
    "$folder/loop_1khz" kernel/examples/bridge.hpan 1
    HARDPAN_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all" ran $tested --test c
    if command -v valgrind >/dev/null; then
        HARDPAN_RUN="valgrind -q --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --error-exitcode=9" ran $tested --test c
    else
        skip "there is no valgrind"
    fi
}

# In place of the VehicleSim tools, at length: programs in C and Python under valgrind, the library for Windows, and a scan of 50
# million triangles, which takes 20 GiB of memory.
vs() {
    local leaks=definite,indirect,possible
    if command -v valgrind >/dev/null; then
        HARDPAN_RUN="valgrind -q --leak-check=full --show-leak-kinds=$leaks --errors-for-leak-kinds=$leaks --suppressions=$PWD/tests/tests/vs/valgrind.supp --error-exitcode=9" \
            ran $tested --test vs library:: -- --skip killed
    else
        skip "there is no valgrind"
    fi
    if command -v x86_64-w64-mingw32-gcc >/dev/null && installed x86_64-pc-windows-gnu; then
        tests/tests/vs/windows.sh "$target" release
    else
        skip "there is no compiler for Windows (gcc-mingw-w64-x86-64 and the target x86_64-pc-windows-gnu)"
    fi
    HARDPAN_LONG=1 ran $tested --test vs vt_51
}

timed() {
    local began=$SECONDS
    printf '\n== %s\n' "$1"
    $1
    printf -- '-- %s: %s s\n' "$1" $((SECONDS - began))
}

# collect STEP: waits for one that runs beside the tests, and shows what it printed.
collect() {
    local code=0
    wait "${running[$1]}" || code=$?
    unset "running[$1]"
    cat "$target/$1.log"
    [ $code = 0 ] || echo "FAILED: $1"
    return $code
}

# Whatever ends this ends what runs beside it.
declare -A running=()
trap 'for group in "${running[@]}"; do kill -- "-$group" 2>/dev/null || true; done' EXIT
for at in "${!steps[@]}"; do
    step=${steps[$at]}
    if [ -n "${running[$step]:-}" ]; then collect "$step"; else timed "$step"; fi
done
printf '\nall checks passed in %s s: %s\n' $SECONDS "${steps[*]}"
[ ! -e "$target/skipped.txt" ] || sed 's/^/but skipped, because /' "$target/skipped.txt"
