#!/usr/bin/env bash
# Builds the kernel for small cores and checks it on emulated ones:
#   - no panic path survives in any entry point (linked without a panic handler),
#   - every answer has the same bits on Cortex-M4F, Cortex-M0, RV32, wasm32 and here, in debug and release builds,
#   - exact instruction counts and stack stay within budgets.toml, and every `closest` below the model there,
#   - the firmware example has one transcript on all boards and here, and refuses flash that is not as it should be, with reasons;
#     six commands lead from heights to it,
#   - programs in C give the same bits, here and on a Cortex-M4F, in hardly more code and stack.
# run.sh [--all | --bless | --counts]: with --all in more profiles: what cargo does unasked, what saves bytes, and with overflow
# checks; with --bless the budgets are written anew from all of that; with --counts only the Cortex-M4F counts, and prints
# `count SCENE CALL LEAST MEAN MOST` lines.
# What cannot run for want of a tool is skipped, with the reason; with HARDPAN_CI=1 that is a failure.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
boards=$root/target/release/boards
export CARGO_TARGET_DIR=$root/target/embedded
HARDPAN_DATA=$(cd ../.. && realpath -m "${HARDPAN_DATA:-../shared/data}")
export HARDPAN_DATA
out=$CARGO_TARGET_DIR/out
all=0
case ${1:-} in --all | --bless) all=1 ;; esac
rm -rf "$out"
mkdir -p "$out"
rm -f "$out.failed" # which a job in the background leaves

fail() {
    echo "FAILED: $*"
    : >"$out.failed"
}

ended() { [ ! -e "$out.failed" ]; }

# side COMMAND..: runs it beside others, one a core.
side() {
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    "$@" &
}

skip() {
    echo "skipped, because $*"
    [ "${HARDPAN_CI:-0}" != 1 ] || fail "nothing may be skipped with HARDPAN_CI=1"
}

# usable TARGET [PROGRAM]: whether the compiler has the target and the program is there; says so if not.
usable() {
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$1" ]; then
        skip "target $1 is not installed (rustup target add $1)"
        return 1
    fi
    if [ $# = 2 ] && ! command -v "$2" >/dev/null; then
        skip "$2 is not installed"
        return 1
    fi
}

build() { cargo build --quiet --locked "$@"; }

entries=$(sed -n 's/^    \(gate_[a-z0-9_]*\)(.*/\1/p' gate/src/lib.rs)
lld=$(echo "$(rustc --print sysroot)"/lib/rustlib/*/bin/rust-lld)

# link ENTRIES TARGET PROFILE ARG..: links what the entries reach, without a definition of what panics call.
link() {
    local roots=${1//gate_/-u gate_} target=$2 profile=$3
    shift 3
    # shellcheck disable=SC2086
    "$lld" -flavor gnu --gc-sections -e 0 $roots -Map="$out/gate.map" -o "$out/gate.elf" \
        "$CARGO_TARGET_DIR/$target/$profile/libgate.a" "$@"
}

# guilty TARGET PROFILE: every entry point from which a panic can be reached, one a line, the function that panics first.
guilty() {
    local entry
    for entry in $entries; do
        link "$entry" "$@" 2>/dev/null && continue
        link "$entry" "$@" --unresolved-symbols=ignore-all --why-live='*panic*' 2>&1 |
            awk '/^>>> referenced by: /{ if (n == 1) print } /^live symbol:/ && !/no section/ { n++ }' |
            sed -E 's/ \(undefined command line flag\)$//; s/^.*:\((.+)\)$/\1/; s/::h[0-9a-f]{16}$//
                s/_?\$LT\$/</g; s/\$GT\$/>/g; s/\$u20\$/ /g; s/\$u5b\$/[/g; s/\$u5d\$/]/g; s/\$u3b\$/;/g
                s/_?\$u7b\$/{/g; s/\$u7d\$/}/g; s/\.\./::/g' |
            awk '{ line = line (NR > 1 ? " <- " : "") $0 } END { print line }'
    done
}

# section NAME: its bytes in the linked gate.
section() { echo $((16#0$(awk -v s="$1" '$5 == s { print $3 }' "$out/gate.map"))); }

# small TARGET PROFILE: code of all entry points, and of the few that a small program uses.
small() {
    if ! link "$entries" "$1" "$2" 2>/dev/null; then
        fail "a panic can be reached on $1, profile $2"
        return
    fi
    echo "$1 code_$2 $(section .text)" >>"$out/gate"
    # a small program has no precedence
    build -p gate --target "$1" --profile "$2" --no-default-features --features wide
    link "gate_open gate_closest_fixed gate_slope_f32 gate_surface gate_z_fixed" "$1" "$2"
    echo "$1 code_of_five_$2 $(section .text)" >>"$out/gate"
    echo "$1 constants_of_five_$2 $(section .rodata)" >>"$out/gate"
}

# gate TARGET: fails, and names the functions, if a panic can be reached in any profile. What overflow checks would add is counted.
gate() {
    local profile profiles=release
    [ $all = 0 ] || profiles="plain small release"
    for profile in $profiles; do
        build -p gate --target "$1" --profile $profile
        if ! link "$entries" "$1" $profile 2>/dev/null; then
            fail "a panic can be reached on $1, profile $profile:"
            guilty "$1" $profile | sed 's/^/    /'
            link "$entries" "$1" $profile --unresolved-symbols=ignore-all 2>/dev/null
        fi
        echo "$1, $profile: code $(section .text) bytes, constants $(section .rodata), memory $(($(section .data) + $(section .bss)))"
    done
    small "$1" release
    [ $all = 1 ] || return 0
    build -p gate --target "$1" --profile least
    small "$1" least
    build -p gate --target "$1" --profile checked
    echo "$1 overflowing $(guilty "$1" checked | wc -l)" >>"$out/gate"
}

# Compiled with the tests, which are compiled anyway: with their packages, since with others the features differ, and all is compiled again.
(cd "$root" && CARGO_TARGET_DIR=$root/target cargo test --locked --quiet --release \
    -p hardpan -p hardpan-shaders -p hardpan-builder -p verification --test c --no-run)
host() { "$boards" "$@"; }

# emulate BOARD TARGET PROFILE QEMU IMAGE-ADDRESS QUERIES-ADDRESS SCENE..; addresses: firmware/build.rs
emulate() {
    local board=$1 target=$2 profile=$3 qemu=$4 image=$5 queries=$6
    shift 6
    usable "$target" "${qemu%% *}" || return 0
    local features=()
    [[ $board != microbit* ]] || features=(--no-default-features) # its flash has no room for precedence
    build -p firmware --target "$target" --profile "$profile" "${features[@]}"
    for scene in "$@"; do
        [ -e "$out/$scene.hpan" ] || continue
        side emulated "$board" "$scene" "$target/$profile" "$qemu -icount shift=8,align=off,sleep=off" "$image" "$queries"
    done
    wait
}

# emulated BOARD SCENE TARGET/PROFILE QEMU IMAGE-ADDRESS QUERIES-ADDRESS: one scene of them.
emulated() {
    start "$3" "$4" "$5" "$6" "$2" queries >"$out/$1.$2.txt" || fail "$2 on $1: exit code $?"
}

# on_host SCENE: the same here, in both kinds of builds.
on_host() {
    "$CARGO_TARGET_DIR/release/hash" "$out" "$1" >"$out/host-release.$1.txt" &&
        "$CARGO_TARGET_DIR/debug/hash" "$out" "$1" >"$out/host-debug.$1.txt" || fail "$1 here: exit code $?"
}

# in_wasm SCENE
in_wasm() {
    node wasm.mjs "$CARGO_TARGET_DIR/wasm32-unknown-unknown/release/probe.wasm" "$out/$1.hpan" "$out/$1.queries" \
        >"$out/wasm32.$1.txt" || fail "$1 in wasm32: exit code $?"
}

# start TARGET/PROFILE QEMU IMAGE-ADDRESS QUERIES-ADDRESS SCENE KIND [PROGRAM]
start() {
    # shellcheck disable=SC2086
    timeout 900 $2 -display none -serial null -monitor none -semihosting-config enable=on,target=native \
        -kernel "$CARGO_TARGET_DIR/$1/${7:-firmware}" \
        -device "loader,file=$out/$5.hpan,addr=$3,force-raw=on" -device "loader,file=$out/$5.$6,addr=$4,force-raw=on"
}

m4f="qemu-system-arm -M mps2-an386"
m4f_at="0x21000000 0x21f00000"

# m4f SCENE..: emulates a Cortex-M4F; of a height field, tells apart what its block's decode takes.
m4f() {
    local target=thumbv7em-none-eabihf qemu=$m4f at=$m4f_at log=$out/field.log
    # shellcheck disable=SC2086
    emulate an386 $target release "$qemu" $at "$@"
    [ -e "$out/an386.field.txt" ] || return 0
    # each instruction on its own, and logged; newer emulators call it one-insn-per-tb
    case $(qemu-system-arm --help) in
    *-singlestep*) qemu="$qemu -singlestep" ;;
    *) qemu="$qemu -accel tcg,one-insn-per-tb=on" ;;
    esac
    # shellcheck disable=SC2086
    start $target/release "$qemu -d exec,nochain -D $log" $at field traced || fail "field, traced: exit code $?"
    host trace "$CARGO_TARGET_DIR/$target/release/firmware" "$log" >>"$out/an386.field.txt" || fail "field, traced"
    rm -f "$log"
}

# Boards of firmware-example: name, target, profile, whether tyres are asked by `contact`, most instructions of a tick, where the
# image lies, the emulator. A millisecond is 250,000 instructions, and ten on a Cortex-M0 156,250.
controllers() {
    local arm="qemu-system-arm -icount shift=2,sleep=off"
    echo "an386 thumbv7em-none-eabihf release contact 168000 0x21000000 $arm -M mps2-an386"
    echo "an500 thumbv7em-none-eabihf release contact 168000 0x60000000 $arm -M mps2-an500"
    echo "an505 thumbv8m.main-none-eabihf release contact 168000 0x80000000 $arm -M mps2-an505"
    echo "virt riscv32imac-unknown-none-elf release contact 168000 0x81000000 qemu-system-riscv32 -icount shift=2,sleep=off -M virt -bios none"
    echo "microbit thumbv6m-none-eabi small closest 80000 0x20000 qemu-system-arm -icount shift=6,sleep=off -M microbit"
    echo "m4-small thumbv7em-none-eabihf small closest 80000 0x21000000 $arm -M mps2-an386"
}

# The one line of a board.
controller() { controllers | grep "^$1 "; }

# of_kind contact|closest: the flags with which cargo builds that program.
of_kind() { [ "$1" = contact ] || echo "--no-default-features"; }

# made BOARD [FEATURE]: builds the controller for a board, and names the program.
made() {
    local name target profile kind rest program=$out/controller-$1${2:+-$2}
    read -r name target profile kind rest <<<"$(controller "$1")"
    # shellcheck disable=SC2046
    BOARD=$name build --profile "$profile" --target "$target" --manifest-path $folder/Cargo.toml $(of_kind "$kind") ${2:+--features "$2"} >&2
    cp "$CARGO_TARGET_DIR/$target/$profile/firmware-example" "$program"
    echo "$program"
}

# drive BOARD PROGRAM [FLASH]: runs it, with a file in its flash, and prints the transcript.
drive() {
    local name target profile kind most at qemu
    read -r name target profile kind most at qemu <<<"$(controller "$1")"
    # shellcheck disable=SC2086
    timeout 120 $qemu -display none -serial null -monitor none -semihosting-config enable=on,target=native \
        ${3:+-device loader,file=$3,addr=$at,force-raw=on} -kernel "$2"
}

# as_host BOARD PROGRAM HOST CODE FLASH TEXT: both end with the code and the same transcript, counts aside, in which the text stands.
as_host() {
    local codes=(0 0)
    drive "$1" "$2" "$5" >"$out/transcript" || codes[0]=$?
    "$3" "${5:-}" >"$out/transcript-host" || codes[1]=$?
    [ "${codes[*]}" = "$4 $4" ] || fail "the controller on $1, $(basename "${5:-linked}"): exit codes ${codes[*]} instead of $4"
    diff <(grep -v '^count' "$out/transcript") <(grep -v '^count' "$out/transcript-host") ||
        fail "the controller on $1, $(basename "${5:-linked}"): another transcript than here"
    grep -qF "$6" "$out/transcript" || fail "the controller on $1, $(basename "${5:-linked}"): no \"$6\" in: $(cat "$out/transcript")"
}

# example: firmware-example on all boards and here, on sound and on faulty flash.
example() {
    local folder=../../firmware-example name target profile kind most at qemu program spent host flash here
    local hardpan=$root/target/release/hardpan-tested
    here=$(rustc -vV | sed -n 's/^host: //p')
    for kind in contact closest; do
        # shellcheck disable=SC2046
        build --release --target "$here" --manifest-path $folder/Cargo.toml $(of_kind $kind)
        cp "$CARGO_TARGET_DIR/$here/release/firmware-example" "$out/host-$kind"
    done
    # flash that is not as it should be
    flash=$out/flash
    mkdir -p "$flash"
    cp $folder/ramp.hpan "$flash/ramp"
    chmod u+w "$flash/ramp"
    head -c 65536 /dev/zero | tr '\0' '\377' >"$flash/ones"
    patched ramp newer 10 '\x04\x00'
    patched ramp damaged 18000 '\x5a'
    "$hardpan" flash $folder/ramp.hpan --address 0 --flash-size 4M --slot a --sequence 1 -o "$flash/a.bin" >/dev/null
    "$hardpan" flash $folder/ramp.hpan --address 0 --flash-size 4M --slot b --sequence 2 -o "$flash/b.bin" >/dev/null
    cat "$flash/a.bin" "$flash/b.bin" >"$flash/slots"
    patched slots b-damaged $((2097152 + 18000)) '\x5a'
    patched slots b-unfinished $((4194304 - 128)) '\xff\xff\xff\xff\xff\xff\xff\xff'
    patched slots b-torn $((4194304 - 120)) '\x07'
    patched b-damaged both-damaged 18000 '\x5a'
    patched b-torn no-slot $((2097152 - 120)) '\x07'

    while read -r name target profile kind most at qemu; do
        usable "$target" "${qemu%% *}" || continue
        program=$(made "$name")
        as_host "$name" "$program" "$out/host-$kind" 0 "$flash/ramp" "300 ticks, 0 late"
        spent=$(sed -n 's/^count tick //p' "$out/transcript")
        echo "the controller on $name: $(stat -c %s "$program") bytes of ELF, $spent instructions a tick"
        [ "${spent:-$most}" -lt "$most" ] || fail "the controller on $name takes $spent instructions a tick"
        [ "$name" != an386 ] || cp "$out/transcript" "$out/example"
        as_host "$name" "$program" "$out/host-$kind" 1 "$flash/ones" "image: refused: blank memory"
        as_host "$name" "$program" "$out/host-$kind" 2 "$flash/damaged" "image: refused: the image is damaged: "
    done <<<"$(controllers)"

    host=$out/host-contact program=$out/controller-an386
    [ -e "$program" ] || return 0
    example_slots
    as_host an386 "$program" "$host" 1 "$flash/newer" "image: refused: the image needs a newer reader"
    as_host an386 "$program" "$host" 3 "$out/demo.hpan" "image: refused: too slow: a tick may take"
    as_host an386 "$program" "$host" 5 "$out/slabs.hpan" "image: refused: too deep: 48 layers"
    # the small one has no triangles of 128 bits
    program=$out/controller-m4-small
    as_host m4-small "$program" "$out/host-closest" 1 "$out/plain.hpan" "image: refused: the image has wide triangles"
    # the image is part of the program
    program=$(made an386 linked)
    drive an386 "$program" >"$out/linked" || fail "the linked controller: exit code $?"
    diff <(grep -v '^count' "$out/linked") <(grep -v '^count' "$out/example") || fail "the linked controller prints something else"
    sed -n '/^```text$/,/^```$/{//!p}' $folder/README.md | diff - <(grep -v '^count' "$out/example") ||
        fail "the firmware example prints something else than its README"
    page
    costs
}

# costs: the table of kernel/docs/boards.md, measured again on the ground that kernel/docs/firmware.md builds.
costs() {
    local place=$out/costs page=../../kernel/docs/boards.md program ground call
    mkdir -p "$place"
    sed -n '/^awk /,/^hardpan info/p' ../../kernel/docs/firmware.md | sed "/^hardpan info/d; s|^hardpan|$hardpan|" >"$place/commands"
    (cd "$place" && bash -e commands) >/dev/null 2>&1 || fail "the commands of kernel/docs/firmware.md"
    program=$(made an386 counts)
    for ground in site posts; do
        drive an386 "$program" "$place/$ground.hpan" >"$place/$ground.txt" || true # what takes too long is counted, too
    done
    while read -r call; do
        awk -v call="$call" '
            function grouped(n) { return n >= 1000 ? grouped(int(n / 1000)) sprintf(",%03d", n % 1000) : n "" }
            $0 ~ "^count " call ":" { sub(/.*: /, ""); n++; instructions[n] = $1; if ($3 > stack) stack = $3 }
            END { printf "| `%s` | %s | %s | %s |\n", call, grouped(stack), grouped(instructions[1]), grouped(instructions[2]) }
        ' "$place/site.txt" "$place/posts.txt"
    done <<'END' >"$place/rows"
closest
contact, 10 points
contact, 16 columns
sensor
END
    grep -E '^\| `(closest|contact|sensor)' $page | diff - "$place/rows" || fail "$page has another table than was measured"
}

# patched FROM TO AT BYTES: a copy of the flash with other bytes.
patched() {
    cp "$flash/$1" "$flash/$2"
    printf "$4" | dd of="$flash/$2" bs=1 seek="$3" conv=notrunc status=none
}

# The slot that is taken, and why the other is not.
example_slots() {
    local on=(an386 "$program" "$host")
    as_host "${on[@]}" 0 "$flash/slots" "slot b: 21376 bytes, proven"
    as_host "${on[@]}" 0 "$flash/b-damaged" "slot b: refused: the image is damaged"
    grep -q "^slot a: 21376 bytes, proven" "$out/transcript" || fail "slot a is not taken for a damaged slot b"
    as_host "${on[@]}" 0 "$flash/b-unfinished" "slot b: no record"
    as_host "${on[@]}" 0 "$flash/b-torn" "slot b: its record is damaged"
    grep -q "^slot a: 21376 bytes, proven" "$out/transcript" || fail "slot a is not taken for a torn record"
    as_host "${on[@]}" 2 "$flash/both-damaged" "slot a: refused: the image is damaged"
    as_host "${on[@]}" 1 "$flash/no-slot" "refused: there is no sound slot"
}

# page: the six commands of kernel/docs/boards.md lead from heights to a running board.
page() {
    local place=$out/page heights=$HARDPAN_DATA/dem/N50E011.hgt
    if [ ! -e "$heights" ]; then
        skip "there is no $heights"
        return
    fi
    rm -rf "$place"
    mkdir -p "$place/bin"
    cp "$heights" "$place"
    ln -s "$root/firmware-example" "$place/firmware-example"
    ln -s "$root/target/release/hardpan-tested" "$place/bin/hardpan"
    awk '/^```sh$/ { on = 1; next } /^```$/ && on { exit } on' ../../kernel/docs/boards.md >"$place/commands"
    [ "$(grep -c . "$place/commands")" = 6 ] || fail "kernel/docs/boards.md has not six commands"
    (cd "$place" && PATH=$place/bin:$PATH timeout 300 bash -e commands) >"$out/page.txt" 2>"$out/page.err" ||
        fail "the commands of kernel/docs/boards.md: exit code $?, $(tail -n 3 "$out/page.err")"
    rm -f "$root/firmware-example/terrain.hex"
    grep -qx "300 ticks, 0 late" "$out/page.txt" || fail "kernel/docs/boards.md: no board ran"
}

# board PROGRAM: runs it on the emulated Cortex-M4F.
board() { timeout 60 $m4f -display none -serial null -monitor none -semihosting-config enable=on,target=native -kernel "$1"; }

# refuses WHAT CODE TEXT PROGRAM: whether a program ends so on an image that is none.
refuses() {
    local code=0
    board "$4" >"$out/refused" || code=$?
    [ $code = "$2" ] && grep -q "^$3" "$out/refused" || fail "$1: exit code $code instead of $2, and: $(cat "$out/refused")"
}

# in_c_example: the firmware example in C, built by the line that it states, prints its transcript.
in_c_example() {
    local source=$root/kernel/c-abi/examples/firmware/main.c line image=firmware-example/ramp.hpan
    line=$(sed -n 's/^ \*   \(E=.*arm-none-eabi-gcc .*\) -o firmware$/\1 -Wall -Wextra -Werror/p' "$source")
    [ -n "$line" ] || { fail "main.c of the firmware example in C has no line that builds it"; return; }
    made() { (cd "$root" && eval "${line//$image/$1} -o $out/$2"); }
    made $image c-firmware
    board "$out/c-firmware" >"$out/example-c" || fail "the firmware example in C: exit code $?"
    diff "$root/kernel/c-abi/examples/firmware/transcript.txt" "$out/example-c" || fail "the firmware example in C prints something else"
    made "$(damaged)" c-damaged
    refuses "the firmware example in C on a damaged image" 2 "the image is damaged: " "$out/c-damaged"
    head -c 8192 /dev/zero >"$out/blank.hpan"
    made "$out/blank.hpan" c-blank
    refuses "the firmware example in C on blank flash" 1 "no image: " "$out/c-blank"
}

# damaged: the name of a copy of the example's image with a flipped byte of a tile.
damaged() {
    cp ../../firmware-example/ramp.hpan "$out/damaged.hpan"
    chmod u+w "$out/damaged.hpan"
    printf '\x5a' | dd of="$out/damaged.hpan" bs=1 seek=18000 conv=notrunc status=none
    echo "$out/damaged.hpan"
}

# in_c SCENE..: the hashes by C, here and emulated, beside code and stack of the Rust calls; no panic path in the library.
in_c() {
    local target=thumbv7em-none-eabihf scene firmware=$root/kernel/c-abi/examples/firmware
    local strict="-std=c99 -O2 -Wall -Wextra -pedantic -Werror -I $root/kernel/c-abi/include -I $firmware"
    if ! command -v cc >/dev/null; then
        skip "there is no C compiler"
        return
    fi
    # shellcheck disable=SC2086
    cc $strict c/host.c c/hash.c "$root/target/release/deps/libhardpan_c.a" -o "$out/c-host"
    for scene in $scenes; do
        [ ! -e "$out/$scene.hpan" ] || "$out/c-host" "$out/$scene.hpan" "$out/$scene.queries" >"$out/host-c.$scene.txt" ||
            fail "$scene in C: exit code $?"
    done
    usable $target qemu-system-arm || return 0
    if ! command -v arm-none-eabi-gcc >/dev/null; then
        skip "arm-none-eabi-gcc is not installed"
        return
    fi
    (cd "$root" && CARGO_TARGET_DIR=$root/target cargo rustc --locked --quiet --profile library -p hardpan-c --crate-type staticlib --target $target)
    local library=$root/target/$target/library/libhardpan_c.a
    # shellcheck disable=SC2086
    arm-none-eabi-gcc $strict -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding -nostdlib -ffunction-sections \
        -Wl,--gc-sections -Wl,-z,noexecstack -T "$firmware/board.ld" "$firmware/board.c" c/mps2.c c/hash.c "$library" -lgcc -o "$CARGO_TARGET_DIR/$target/release/c-hash"
    for scene in "$@"; do
        # shellcheck disable=SC2086
        start $target/release "$m4f" $m4f_at "$scene" queries c-hash >"$out/an386-c.$scene.txt" || fail "$scene in C on an386: exit code $?"
        beside "$scene"
    done
    in_c_example
    # the panic handler calls what nobody defines
    if arm-none-eabi-nm "$library" 2>/dev/null | grep hpan_panicked; then fail "a panic can be reached in the C library"; fi
    if [ $all = 1 ]; then # with overflow checks there is one: so it would be seen
        (cd "$root" && CARGO_TARGET_DIR=$root/target/checked cargo rustc --locked --quiet --profile library -p hardpan-c --crate-type staticlib \
            --target $target --config profile.library.overflow-checks=true)
        arm-none-eabi-nm "$root/target/checked/$target/library/libhardpan_c.a" 2>/dev/null | grep hpan_panicked >/dev/null ||
            fail "no panic is seen where overflows are checked"
    fi
    link "gate_open gate_closest_fixed gate_slope_f32 gate_surface gate_z_fixed" $target release
    local rust in_c
    rust=$(section .text)
    "$lld" -flavor gnu --gc-sections -e 0 -u hpan_open -u hpan_closest_fixed -u hpan_slope_f32 -u hpan_surface_f64 -u hpan_z_fixed \
        -Map="$out/gate.map" -o "$out/gate.elf" "$library"
    in_c=$(section .text)
    echo "code of five: $in_c bytes in C, $rust in Rust"
    [ $((in_c * 100)) -le $((rust * 105)) ] || fail "C takes more than 5 % more code"
}

# beside SCENE: the stack of calls through C, at most 5 % more than in Rust.
beside() {
    awk -v scene="$1" '
        FNR == NR { if ($1 == "stack") rust[$2] = $3; next }
        $1 == "c_stack" {
            printf "%s: stack of %s: %d bytes in C, %d in Rust\n", scene, $2, $3, rust[$2]
            if (!rust[$2] || $3 * 100 > rust[$2] * 105) { bad = 1 }
            n++
        }
        END { exit bad || n != 2 }' "$out/an386.$1.txt" "$out/an386-c.$1.txt" || fail "$1: C takes more than 5 % more stack, or was not measured"
}

if [ "${1:-}" = --counts ]; then
    usable thumbv7em-none-eabihf qemu-system-arm || exit 0
    host write "$out" >&2
    m4f hills proving field >&2
    for scene in hills proving field; do
        sed -n "s/^\(count\|ray\) /\1 $scene /p" "$out/an386.$scene.txt"
    done
    if ended; then exit 0; else exit 1; fi
fi

# all targets at once, so that each core compiles one
present=()
for target in thumbv7em-none-eabihf thumbv6m-none-eabi riscv32imac-unknown-none-elf; do
    [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || present+=(--target $target)
done
[ ${#present[@]} = 0 ] || build -p gate --release "${present[@]}"
for target in thumbv7em-none-eabihf thumbv6m-none-eabi riscv32imac-unknown-none-elf; do
    usable $target || continue
    gate $target
    # a gate that never closes proves nothing
    [ $all = 1 ] || [ $target = thumbv7em-none-eabihf ] || continue
    build -p gate --target $target --release --features guilty
    if link gate_guilty $target release 2>/dev/null; then fail "the gate let a guilty function through for $target"; fi
    guilty $target release | grep -q 'gate_guilty$' || fail "the gate does not name the guilty function for $target"
done

build -p hash
build -p hash --release
host write "$out"

scenes="hills proving field small demo wide plain island decks slabs zones fans multilayer undulating"
for scene in $scenes; do
    if [ ! -e "$out/$scene.hpan" ]; then
        skip "the file of $scene is not at hand (set HARDPAN_DATA)"
        continue
    fi
    side on_host $scene
done
wait
# shellcheck disable=SC2086
m4f $scenes
for profile in $([ $all = 0 ] || echo least mixed); do
    # shellcheck disable=SC2086
    emulate an386-$profile thumbv7em-none-eabihf $profile "$m4f" $m4f_at $scenes
done
emulate microbit thumbv6m-none-eabi release "qemu-system-arm -M microbit" 0x30000 0x3c000 small
# rays have room there in the least program, without counts
emulate microbit-least thumbv6m-none-eabi least "qemu-system-arm -M microbit" 0x30000 0x3c000 small
emulate virt riscv32imac-unknown-none-elf release "qemu-system-riscv32 -M virt -bios none" 0x81000000 0x81f00000 \
    hills proving field small demo wide plain island decks slabs zones fans
if usable wasm32-unknown-unknown node; then
    cargo rustc --quiet --locked -p probe --target wasm32-unknown-unknown --release --crate-type cdylib
    for scene in $scenes; do side in_wasm $scene; done
    wait
fi
example
in_c hills wide
host check "$out" budgets.toml $([ "${1:-}" != --bless ] || echo --bless) || fail "answers, counts or budgets"
ended
