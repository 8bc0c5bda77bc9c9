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
