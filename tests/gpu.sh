#!/usr/bin/env bash
# What wants a real graphics card, in under ten minutes: that the bytes are those of the CPU, and what a card gains.
#   tests/gpu.sh pack [OPTION OF CARGO...]   builds what is needed into target/gpu, here
#   tests/gpu.sh run                         runs it on the machine with the card: needs bash, coreutils, awk and that folder; no cargo, no network
# A run on a card puts its table into tests/benches/results/gpu.md, or into the file that HARDPAN_RECORD names, in place of the one there.
# HARDPAN_BACKEND=software tries the script itself on a software driver, with smaller scenes.
set -euo pipefail
cd "$(dirname "$0")/.."
packed=$PWD/target/gpu

pack() {
    local files
    mkdir -p "$packed"
    cargo build --locked --release -p hardpan-builder --features gpu --bin hardpan "$@" --message-format json-render-diagnostics >"$packed/hardpan.json"
    cargo test --locked --release -p hardpan-shaders --features wgpu --test gpu --no-run "$@" --message-format json-render-diagnostics >"$packed/suite.json"
    copy hardpan
    copy suite
    rm "$packed"/*.json
    # a machine may have a driver and no loader
    files=(/usr/lib/*/libvulkan.so.1 /usr/lib64/libvulkan.so.1)
    for file in "${files[@]}"; do
        [ ! -f "$file" ] || cp -L "$file" "$packed/libvulkan.so.1"
    done
    ls -l "$packed"
    [ "$(du -sm "$packed" | cut -f 1)" -lt 64 ] || { echo "FAILED: more than 64 MiB"; exit 1; }
}

# copy NAME: the program that cargo named last, without symbols.
copy() {
    local made
    made=$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$packed/$1.json" | tail -n 1)
    strip -o "$packed/$1" "$made"
}

# The loader and the drivers that are there; where parts are missing, what of them can be helped with.
drivers() {
    local lists folder library found name
    echo "card: $(nvidia-smi -L 2>/dev/null || echo "nvidia-smi names none")"
    found=$(at_libraries libvulkan.so.1)
    echo "loader libvulkan.so.1: ${found:-not on the library path}"
    if [ -z "$found" ] && [ -f "$packed/libvulkan.so.1" ]; then
        echo "  the one of $packed is taken"
        export LD_LIBRARY_PATH=$packed${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    fi
    lists=()
    for folder in /etc/vulkan/icd.d /usr/share/vulkan/icd.d /usr/local/share/vulkan/icd.d; do
        for name in "$folder"/*.json; do [ ! -f "$name" ] || lists+=("$name"); done
    done
    echo "lists of drivers: ${VK_DRIVER_FILES:-${lists[*]:-none in /etc/vulkan/icd.d, /usr/share/vulkan/icd.d, /usr/local/share/vulkan/icd.d}}"
    [ "$backend" = gpu ] && [ -z "${VK_DRIVER_FILES:-}" ] || return 0
    [[ " ${lists[*]:-}" != *nvidia* ]] || return 0
    for library in libEGL_nvidia.so.0 libGLX_nvidia.so.0; do
        found=$(at_libraries $library)
        echo "$library: ${found:-not on the library path}"
        if [ -n "$found" ]; then
            echo "  a list of it is written, as there is none"
            name=$work/nvidia.json
            printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' "$found" >"$name"
            export VK_DRIVER_FILES=$name VK_ICD_FILENAMES=$name
            if card >/dev/null; then return 0; fi
            echo "  but by it no card is found"
            unset VK_DRIVER_FILES VK_ICD_FILENAMES
        fi
    done
}

# at_libraries NAME: where a library lies, or nothing.
at_libraries() {
    local folder
    local given=${LD_LIBRARY_PATH:-}
    for folder in ${given//:/ } /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib /usr/local/nvidia/lib64 /usr/local/lib; do
        if [ -e "$folder/$1" ]; then
            echo "$folder/$1"
            return
        fi
    done
}

# The card that will be taken: the first that is of the wanted kind.
card() {
    local all
    all=$("$packed/hardpan" --version --verbose 2>/dev/null | sed -n 's/^adapter: //p')
    if [ "$backend" = software ]; then grep -m 1 ', software, ' <<<"$all"; else grep -v ', software, ' <<<"$all" | grep -m 1 .; fi
}

# hills CELLS: so many by so many cells of 1 m, two triangles each, as OBJ.
hills() {
    awk -v n="$1" 'BEGIN {
        for (j = 0; j <= n; j++) for (i = 0; i <= n; i++)
            printf "v %d %d %.3f\n", i, j, 12 * sin(i / 97) * cos(j / 61) + 1.5 * sin(i / 9 + j / 13) + (i * 7 + j * 13) % 17 / 200
        print "usemtl Ground"
        for (j = 0; j < n; j++) for (i = 1; i <= n; i++) {
            a = j * (n + 1) + i; c = a + n + 1
            printf "f %d %d %d\nf %d %d %d\n", a, a + 1, c + 1, a, c + 1, c
        }
    }'
}

# stages REPORT: a line a stage: name, items, chunks, chunks done again, items of the CPU by rule, seconds.
stages() {
    tr -d ' \n' <"$1" | grep -o '{"stage":[^}]*}' | sed 's/[{}"]//g' | awk -F '[:,]' '{
        for (i = 1; i < NF; i += 2) of[$i] = $(i + 1)
        print of["stage"], of["items"], of["chunks"], of["redone"], of["on_host"], of["seconds"]
    }'
}

# number KEY FILE: the first number of that name.
number() { tr -d ' \n' <"$2" | grep -oE "\"$1\":[0-9.e+-]+" | sed -n '1s/.*://p'; }

# row CELL...: a row of the table.
row() { printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$@" >>"$table"; }

failed() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }'; }

# has_time SECONDS WHAT: whether so many are left.
has_time() {
    [ $((SECONDS + $1)) -le $most ] || { echo "left out, as less than $1 s are left: $2"; row "$2" "left out" - - - - - -; return 1; }
}

# compared NAME OPTION...: builds on both, compares the bytes, and adds rows.
compared() {
    local name=$1 on same=yes a b
    shift
    for on in cpu "$backend"; do
        "$packed/hardpan" build "$@" --backend "$on" -o "$work/$on.hpan" --report "$work/$on.json" --force >"$work/$on.txt" 2>&1 ||
            { failed "$name on $on: $(tail -n 3 "$work/$on.txt")"; row "$name" failed - - - - - -; return; }
    done
    cmp "$work/cpu.hpan" "$work/$backend.hpan" || { same=NO; failed "$name: other bytes on $backend"; }
    a=$(number build "$work/cpu.json") b=$(number build "$work/$backend.json")
    row "$name" "all of it" - - - "$a" "$b" "$(ratio "$a" "$b"), same bytes: $same"
    stages "$work/cpu.json" >"$work/cpu.stages"
    stages "$work/$backend.json" >"$work/$backend.stages"
    [ -s "$work/$backend.stages" ] || failed "$name: no stages are reported"
    while read -r stage items chunks redone by_rule seconds; do
        a=$(awk -v s="$stage" '$1 == s { print $6 }' "$work/cpu.stages")
        row "$name" "$stage, $items items" "$chunks" "$redone" "$by_rule" "$a" "$seconds" "$(ratio "$a" "$seconds")"
        [ "$redone" = 0 ] || failed "$name: the device failed at $redone chunks of $stage: $(grep failed "$work/$backend.txt" | head -n 1)"
    done <"$work/$backend.stages"
}

# sampled NAME FILE CELL: the same for a grid.
sampled() {
    local name=$1 on same=yes a b
    for on in cpu "$backend"; do
        "$packed/hardpan" grid "$2" --cell "$3" --backend "$on" -o "$work/$on.npy" --force --json >"$work/$on.json" 2>"$work/$on.txt" ||
            { failed "$name on $on: $(tail -n 3 "$work/$on.txt")"; row "$name" failed - - - - - -; return; }
    done
    cmp "$work/cpu.npy" "$work/$backend.npy" || { same=NO; failed "$name: other bytes on $backend"; }
    a=$(number sampled "$work/cpu.json") b=$(number sampled "$work/$backend.json")
    row "$name" "$(number squares "$work/cpu.json") squares" - - - "$a" "$b" "$(ratio "$a" "$b"), same bytes: $same"
    rm "$work"/*.npy
}

# The tests of the stages, as often as fits.
suite() {
    local round began longest=0 done=0
    [ "$backend" != gpu ] || export HARDPAN_CARD=1
    for round in $(seq $rounds); do
        began=$SECONDS
        [ $((began + longest)) -le $suite_most ] || break
        HARDPAN_CI=1 timeout 300 "$packed/suite" >"$work/suite.txt" 2>&1 || {
            failed "the tests of the stages, round $round"
            tail -n 40 "$work/suite.txt"
            break
        }
        done=$round
        [ $((SECONDS - began)) -le $longest ] || longest=$((SECONDS - began))
    done
    echo "tests of the stages: passed $done times, $longest s at most; $(grep '^test result' "$work/suite.txt")"
    row "tests of the stages" "passed $done times" - - - - - -
}

# Puts the table between the two marks of the page of results.
record() {
    awk -v told="$work/told.md" '
        /^<!-- card: end -->$/ { within = 0 }
        !within { print }
        /^<!-- card: begin -->$/ { within = 1; while ((getline line < told) > 0) print line }
    ' "$record" >"$work/record.md"
    cat "$work/record.md" >"$record"
    echo "recorded in $record"
}

run() {
    local size
    for program in awk sed grep cmp timeout; do
        command -v $program >/dev/null || { echo "there is no $program here" >&2; exit 4; }
    done
    for program in hardpan suite; do
        [ -x "$packed/$program" ] || { echo "there is no $packed/$program; make it with tests/gpu.sh pack, where cargo is" >&2; exit 4; }
    done
    "$packed/hardpan" --version || { echo "hardpan does not start here: $(uname -m), $(ldd --version 2>&1 | head -n 1)" >&2; exit 4; }
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$work}
    drivers
    if ! name=$(card); then
        echo "There is no adapter for --backend $backend. hardpan says:"
        "$packed/hardpan" demo --fixture bridge -o "$work/b.hpan" >/dev/null
        "$packed/hardpan" grid "$work/b.hpan" --cell 10 --backend "$backend" || true
        exit 4
    fi >&2
    echo "runs on $name"
    table=$work/table.md failures=0
    suite
    for size in "${sizes[@]}"; do
        has_time $((10 + size * size / 60000)) "hills of $((2 * size * size)) triangles" || continue
        hills "$size" >"$work/hills.obj"
        echo "hills of $((2 * size * size)) triangles: $SECONDS s"
        compared "$((2 * size * size)) triangles" "$work/hills.obj" --up z
        compared "$((2 * size * size)) triangles, small chunks" "$work/hills.obj" --up z --gpu-memory "$small"
        ! has_time $((10 + size * size / 100000)) "field of $((2 * size * size)) triangles" ||
            compared "$((2 * size * size)) triangles, --raster 0.7" "$work/hills.obj" --up z --raster 0.7
        ! has_time $((10 + size * size / 100000)) "grid of $((2 * size * size)) triangles" ||
            sampled "$((2 * size * size)) triangles, grid --cell 0.3" "$work/hills.obj" 0.3
    done
    {
        printf '%s; %s cores; %s\n\n' "$name" "$(nproc)" "$("$packed/hardpan" --version | head -n 1)"
        echo "| scene | what | chunks | done again | by rule on the CPU | CPU, s | $backend, s | times as fast |"
        echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
        cat "$table"
        printf '\n%s failures; %s s\n' $failures $SECONDS
    } >"$work/told.md"
    echo
    cat "$work/told.md"
    if [ -f "$record" ]; then record; fi
    [ $failures = 0 ]
}

backend=${HARDPAN_BACKEND:-gpu}
record=${HARDPAN_RECORD:-}
[ -n "$record" ] || [ "$backend" != gpu ] || record=tests/benches/results/gpu.md
most=540 # seconds for all
case $backend in
gpu) sizes=(708 2237) rounds=20 suite_most=240 small=64MiB ;;
software) sizes=(60 200) rounds=1 suite_most=240 small=1MiB ;;
*) echo "HARDPAN_BACKEND=$backend: gpu or software" >&2; exit 2 ;;
esac
case ${1:-} in
pack) pack "${@:2}" ;;
run) run ;;
*) echo "tests/gpu.sh pack or run" >&2; exit 2 ;;
esac
