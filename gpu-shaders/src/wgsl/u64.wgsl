// Whole numbers of 64 bits: x has the low half, y the high one; two's complement, sums and products wrap.

fn wide(v: i32) -> vec2<u32> {
    return vec2(bitcast<u32>(v), bitcast<u32>(v >> 31u));
}

fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn sub(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn is_negative(a: vec2<u32>) -> bool {
    return (a.y >> 31u) != 0u;
}

fn absolute(a: vec2<u32>) -> vec2<u32> {
    if (is_negative(a)) {
        return sub(vec2(0u), a);
    }
    return a;
}

// Of numbers without a sign.
fn is_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn doubled(a: vec2<u32>) -> vec2<u32> {
    return vec2(a.x << 1u, (a.y << 1u) | (a.x >> 31u));
}

fn halved(a: vec2<u32>) -> vec2<u32> {
    return vec2((a.x >> 1u) | (a.y << 31u), a.y >> 1u);
}

// By less than 32 bits.
fn shifted(a: vec2<u32>, by: u32) -> vec2<u32> {
    if (by == 0u) {
        return a;
    }
    return vec2(a.x << by, (a.y << by) | (a.x >> (32u - by)));
}

// How many bits it takes.
fn bits(a: vec2<u32>) -> u32 {
    return select(64u - countLeadingZeros(a.y), 32u - countLeadingZeros(a.x), a.y == 0u);
}

// Of two numbers without a sign.
fn product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return vec2((other << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u));
}

fn times(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = product(a.x, b.x);
    return vec2(low.x, low.y + a.x * b.y + a.y * b.x);
}

// Of two numbers with a sign.
fn product_of(a: i32, b: i32) -> vec2<u32> {
    let low = product(bitcast<u32>(a), bitcast<u32>(b));
    let less = select(0, b, a < 0) + select(0, a, b < 0);
    return vec2(low.x, low.y - bitcast<u32>(less));
}
