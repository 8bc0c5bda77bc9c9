#!/bin/sh
# Measures every bar and prints one table: tests/bench.sh [--quick] [--record] [SCENE...]
# --quick repeats less, and leaves out edges and emulator unless they are named (edges, m4f).
# Hardpan is linked as one unit, for every processor of the kind; RUSTFLAGS="-C target-cpu=native" compiles it for this processor.
set -e
cd "$(dirname "$0")/.."

has_embree() { ldconfig -p | grep -q libembree3.so; }

if ! has_embree && command -v apt-get >/dev/null; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    echo "installing Embree 3 (libembree-dev)" >&2
    $as_root apt-get install -y -qq libembree-dev >&2 || echo "could not install libembree-dev" >&2
fi
features=
if has_embree; then
    features="--features embree"
else
    echo "no Embree 3 here: the bars that compare with it are left out" >&2
fi
exec cargo run --profile measured --quiet -p benchmarks $features --bin bench -- "$@"
