#!/usr/bin/env bash
# All checks: style, documentation, tests, small cores in an emulator, the command on real files.
# Installs what they need and is missing; what cannot run is skipped, with the reason. With HARDPAN_CI=1 a skip is a failure.
# HARDPAN_DATA names the folder of real files (default: shared/data beside this repository).
set -euo pipefail
cd "$(dirname "$0")/.."
ci=${HARDPAN_CI:-0}
data=${HARDPAN_DATA:-../shared/data}
others="x86_64-pc-windows-msvc aarch64-apple-darwin" # platforms for which everything compiles

step() { printf '\n== %s\n' "$*"; }

skip() {
    echo "skipped, because $*"
    if [ "$ci" = 1 ]; then
        echo "nothing may be skipped with HARDPAN_CI=1"
        exit 1
    fi
}

# have PROGRAM PACKAGE: installs the package if the program is missing; no harm if it cannot.
have() {
    command -v "$1" >/dev/null && return
    command -v apt-get >/dev/null || return 0
    echo "installing $2"
    local root=()
    [ "$(id -u)" = 0 ] || root=(sudo)
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c "apt-get install -y -qq $2 || { apt-get update -qq && apt-get install -y -qq $2; }" \
        >/dev/null || echo "could not install $2"
}

step "tools"
if command -v rustup >/dev/null; then
    channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
    for target in thumbv6m-none-eabi thumbv7em-none-eabihf riscv32imac-unknown-none-elf wasm32-unknown-unknown $others; do
        rustup target add --toolchain "$channel" "$target" 2>/dev/null || echo "could not install target $target"
    done
fi
have qemu-system-arm qemu-system-arm
have qemu-system-riscv32 qemu-system-misc
have node nodejs
rustc --version

step "style"
cargo fmt --all --check
cargo clippy --locked --workspace --all-targets --release -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet

step "packages"
# what would be published, unpacked and built by itself
# with the kernel of today: cargo keeps what it unpacked and compiled of the same version before
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/hardpan-[0-9]* "${CARGO_TARGET_DIR:-target}"/debug/.fingerprint/hardpan-*
cargo package --locked --allow-dirty --quiet -p hardpan -p hardpan-builder
for crate in hardpan hardpan-builder; do
    listed=$(cargo package --locked --allow-dirty --list -p $crate)
    for file in README.md LICENSE-MIT LICENSE-APACHE 'examples/[a-z]*\.rs'; do
        grep -qx "$file" <<<"$listed" || { echo "FAILED: the package $crate has no $file"; exit 1; }
    done
done

step "other platforms"
for target in $others; do
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
        # without what needs a C compiler for them
        cargo check --locked --quiet --no-default-features -p hardpan -p hardpan-builder --target "$target"
        echo "$target: checked"
    else
        skip "target $target is not installed (rustup target add $target)"
    fi
done

step "tests"
cargo test --locked --release --workspace

step "small cores"
tests/embedded/run.sh

step "the command on real files"
if [ -d "$data" ]; then
    cargo build --locked --quiet --release -p hardpan-builder --bin hardpan
    hardpan=$(pwd)/target/release/hardpan
    [ -z "${CARGO_TARGET_DIR:-}" ] || hardpan=$CARGO_TARGET_DIR/release/hardpan
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    while read -r file arguments; do
        # shellcheck disable=SC2086
        timeout 120 "$hardpan" build "$data/$file" $arguments -o "$out/a.hpan" >"$out/log" 2>&1 ||
            { echo "FAILED: build $file"; cat "$out/log"; exit 1; }
        printf '%-56s %s\n' "$file" "$(sed -n 's/.*hpan: //p' "$out/log")"
        "$hardpan" info "$out/a.hpan" --json >"$out/info"
        grep -q '"triangles": [1-9]' "$out/info" || { echo "FAILED: info of $file"; exit 1; }
        "$hardpan" query "$out/a.hpan" 0,0 0,0,1 --json >"$out/query"
        "$hardpan" verify "$out/a.hpan" >"$out/log" || { echo "FAILED: verify $file"; cat "$out/log"; exit 1; }
    done <<'FILES'
city/samurai_monastry.obj --up y
city/zdm2.obj --up y
city/3dfier_innerbuffer_05.obj
city/kitavi_city.obj --drop-outliers
city/recast_dungeon.obj --up y
city/steelribs.obj --up y
roads/cloverleaf.obj --unit in
roads/chrono_multilayer/multilayer-terrain.obj
roads/chrono_multilayer/multilayer-terrain-collision.obj
terrain/chrono_bump.obj
terrain/chrono_bump_YUP.obj --up y
terrain/chrono_fixedterrain.obj
terrain/chrono_halfround_100mm.obj
terrain/chrono_test_terrain_irregular.obj
terrain/recast_undulating.obj --up y
mavs/data/scenes/meshes/surfaces/ditch/ditch_surface.obj
mavs/data/scenes/meshes/surfaces/surface.obj
fbx/blender_293_instancing.obj --up y
fbx/revit_wall_square.obj
fbx/axes_nxpz_7400_binary.fbx
fbx/blender_279_nested_meshes_7400_binary.fbx
fbx/blender_293_instancing_7400_binary.fbx
fbx/blender_suzanne_multimaterial_7400_binary.fbx
fbx/global_settings.fbx
fbx/kenney_collision-track-corner.fbx
fbx/max2009_blob_5800_ascii.fbx --up z --unit in
fbx/max2009_blob_6100_binary.fbx
fbx/maya_axes_7700_ascii.fbx
fbx/maya_cube_big_endian_7500_binary.fbx
fbx/maya_slime_7500_binary.fbx
fbx/revit_wall_square_7700_binary.fbx
fbx/spider.fbx
FILES
else
    skip "there is no folder $data (set HARDPAN_DATA)"
fi

echo
echo "all checks passed"
