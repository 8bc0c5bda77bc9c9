#!/usr/bin/env bash
# Bytes as images, changed at random for SECONDS (default 600): no query panics or hangs, and all ways to ask agree.
# Needs a nightly toolchain; installs cargo-fuzz. What it finds lies in tests/fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")"
rustup toolchain install nightly --profile minimal >/dev/null 2>&1 || echo "could not install the nightly toolchain"
command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
seeds=$(pwd)/fuzz/corpus/image # small images of all kinds: without them nothing gets beyond the magic number
mkdir -p "$seeds"
HARDPAN_IMAGES=$seeds cargo test --locked --release --quiet --test miri
cargo +nightly fuzz run image -- -max_len=40000 -max_total_time="${1:-600}" -print_final_stats=1
