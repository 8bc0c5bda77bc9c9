//! One number for many answers.

use hardpan::{Answer, Hit, LeafKind, Status};

/// FNV-1a, 64 bits.
#[derive(Clone, Copy)]
pub struct Fnv(pub u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Everything but `place`: where a surface lies in the image is no part of its answer.
    pub fn hit(&mut self, hit: &Hit) {
        for v in [hit.z, hit.normal.x, hit.normal.y, hit.normal.z] {
            self.bytes(&v.to_le_bytes());
        }
        self.bytes(&hit.material.to_le_bytes());
        self.bytes(&hit.source.to_le_bytes());
        self.bytes(&[
            match hit.leaf {
                LeafKind::Bundle => 0,
                LeafKind::Patch => 1,
                LeafKind::None => 2,
            },
            hit.reach.code(),
        ]);
    }

    pub fn status(&mut self, status: Status) {
        self.bytes(&[status.code()]);
    }

    pub fn answer(&mut self, answer: &Answer) {
        self.status(answer.status);
        self.hit(&answer.hit);
    }
}
