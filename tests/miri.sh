#!/usr/bin/env bash
# Undefined behaviour stops Miri, which watches every access while tests/tests/miri.rs opens, verifies, asks and damages tiny images.
# Installs a nightly toolchain with Miri if there is none. Images are built natively first, and read on a 32-bit core: `libm` has no assembly there.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo +nightly miri --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal --component miri,rust-src
export HARDPAN_IMAGES=${CARGO_TARGET_DIR:-$PWD/target}/miri-images
mkdir -p "$HARDPAN_IMAGES"
cargo test --locked --release -p verification --test miri
# C of a library that nothing here calls is compiled as for this machine: no cross compiler is needed
export CRATE_CC_NO_DEFAULTS=1 CC_arm_unknown_linux_gnueabi=cc AR_arm_unknown_linux_gnueabi=ar
MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --locked --target arm-unknown-linux-gnueabi -p verification --test miri
