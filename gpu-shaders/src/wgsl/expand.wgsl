// Which item a candidate belongs to: `starts` says where the candidates of each start, and ends with how many there are.
fn item_of(candidate: u32) -> u32 {
    var low = 0u;
    var high = params.items;
    for (var k = 0u; k < 32u; k++) {
        if (high - low <= 1u) {
            break;
        }
        let middle = low + (high - low) / 2u;
        if (starts[middle] <= candidate) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Column and row of a candidate: of an item's words the one at BOX is the first column under its box, then come the first row and the columns.
fn place_of(item: u32, candidate: u32) -> vec2<i32> {
    let k = candidate - starts[item];
    let at = item * WORDS + BOX;
    let columns = u32(items[at + 2u]);
    return vec2(items[at] + i32(k % columns), items[at + 1u] + i32(k / columns));
}
