// node wasm.mjs PROBE.wasm IMAGE QUERIES: prints the hashes as the firmware does.
import { readFileSync } from "node:fs";
const [wasm, image, queries] = process.argv.slice(2).map((path) => readFileSync(path));
const { exports } = (await WebAssembly.instantiate(wasm)).instance;
const put = (at, bytes) => new Uint8Array(exports.memory.buffer).set(bytes, at);
put(exports.image(), image);
put(exports.queries(), queries);
const kinds = ["closest", "entries", "windows", "below", "segment", "layers", "batch", "rays", "values", "draws"];
kinds.forEach((kind, i) => console.log(`hash ${kind} ${BigInt.asUintN(64, exports.hash_of(i)).toString(16).padStart(16, "0")}`));
