//! A mix of bits that is the same everywhere; it needs nothing, so that tests on small cores have this very file.

/// A mix of 64 bits (the finaliser of SplitMix64).
pub fn mix(v: u64) -> u64 {
    let v = v.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let v = (v ^ v >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let v = (v ^ v >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ v >> 31
}
