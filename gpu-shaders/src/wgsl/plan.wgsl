// Triangles in plan: a place may lie outside of an edge.

// Corner of an item whose words begin with x and y of each.
fn corner(item: u32, k: u32) -> vec2<i32> {
    let at = item * WORDS + 2u * k;
    return vec2(items[at], items[at + 1u]);
}

// Negative where a place is outside of the edge `e` from `c`.
fn side(c: vec2<i32>, e: vec2<i32>, place: vec2<i32>) -> vec2<u32> {
    let d = place - c;
    return sub(product_of(e.x, d.y), product_of(e.y, d.x));
}

// The corner of a rectangle that lies deepest inside an edge `e`.
fn deepest(low: vec2<i32>, size: vec2<i32>, e: vec2<i32>) -> vec2<i32> {
    return low + vec2(select(size.x, 0, e.y > 0), select(0, size.y, e.x > 0));
}
