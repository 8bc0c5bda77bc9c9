#!/usr/bin/env bash
# VsTerrain.dll: linked with mingw, and Listing 3 with it; where wine is, that runs, and makes the bytes that it makes here.
#     tests/tests/vs/windows.sh [FOLDER OF CARGO'S OUTPUT] [release]
# Needs gcc-mingw-w64-x86-64 and the target x86_64-pc-windows-gnu; wine64 if it is to run.
set -euo pipefail
cd "$(dirname "$0")/../../.."
target=${1:-target} profile=${2:-release}
flags=(--target-dir "$target")
if [ "$profile" = release ]; then flags+=(--release); fi
cargo build -p hardpan-vsterrain "${flags[@]}"
cargo build -p hardpan-vsterrain --target x86_64-pc-windows-gnu "${flags[@]}"

folder=$target/vs-windows crate=builder/c-abi listing=$PWD/tests/tests/vs/listing3.c
rm -rf "$folder"
mkdir -p "$folder/here" "$folder/there"
gcc=x86_64-w64-mingw32-gcc
$gcc -shared -static-libgcc -o "$folder/there/VsTerrain.dll" "$crate/VsTerrain.def" \
    "$target/x86_64-pc-windows-gnu/$profile/libhpan_vsterrain.a" -lkernel32 -lntdll -luserenv -lws2_32 -ldbghelp \
    -Wl,--out-implib,"$folder/libVsTerrain.dll.a"
$gcc -Wall -Werror -DVST_DLL -I "$crate/include" "$listing" "$folder/libVsTerrain.dll.a" -o "$folder/there/listing3.exe"
cc -I "$crate/include" "$listing" "$target/$profile/libhpan_vsterrain.a" -lpthread -lm -ldl -o "$folder/here/listing3"
(cd "$folder/here" && ./listing3 >told)

if ! command -v wine >/dev/null; then
    echo "linked, but not run: there is no wine"
    exit 0
fi
$gcc -shared -o "$folder/there/bcryptprimitives.dll" tests/tests/vs/prng.c -ladvapi32
export WINEDEBUG=-all WINEPREFIX=$(realpath "$folder")/wine
wine wineboot >/dev/null 2>&1 || true # the first start talks
(cd "$folder/there" && wine listing3.exe | tr -d '\r' >told)
for file in told example.vsterrain example.obj example.mtl; do cmp "$folder/here/$file" "$folder/there/$file"; done
echo "VsTerrain.dll makes the same bytes under $(wine --version)"
