//! Friction from a second OpenCRG: its numbers are mu, at the same u and v.

use super::body;
use super::head::{self, Keys};
use super::road::{Road, modifiers};
use crate::import::{ImportError, NO_NAME};
use crate::scene::{DEFAULT_MU, Material};
use crate::util::text::decimal;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Materials of a road, one for each hundredth of mu.
pub struct Friction {
    /// Files that were read.
    pub files: Vec<PathBuf>,
    road: Road,
    /// Hundredths, and the number of their material.
    known: BTreeMap<u16, u16>,
}

/// The most that is friction.
const MOST: f64 = 10.0;

impl Friction {
    /// Reads the file of this name beside a road.
    pub fn read(beside: &Path, name: &str) -> Result<Friction, ImportError> {
        let path = beside.with_file_name("").join(name);
        let mut head = head::read(&path)?;
        let rows = body::read(&head)?;
        if let Some(mu) = rows.z.iter().find(|mu| !mu.is_nan() && !(0.0..=MOST).contains(*mu)) {
            let cause = format!("{} is no friction", decimal(*mu));
            return Err(ImportError::input(&path, cause, "its numbers are mu, 0 to 10"));
        }
        // where it lies is nothing to its numbers
        let (all, mut own) = (modifiers(&head), Keys::default());
        for key in head::MODS
            .iter()
            .filter(|key| key.starts_with("grid_nan") || **key == "scale_length" || **key == "scale_width")
        {
            if let Some(value) = all.get(key) {
                own.set(key, value);
            }
        }
        head.mods = Some(own);
        Ok(Friction { road: Road::new(&head, rows)?, files: head.files, known: BTreeMap::new() })
    }

    /// The number of the material at u and v: zero where the file has no friction.
    pub fn at(&mut self, place: [f64; 2]) -> u16 {
        let Some(mu) = self.road.number(place) else { return 0 };
        let next = self.known.len() as u16 + 1;
        *self.known.entry((mu.clamp(0.0, MOST) * 100.0).round() as u16).or_insert(next)
    }

    /// All materials, by their numbers.
    pub fn materials(&self) -> Vec<Material> {
        let mut all = vec![Material::new(NO_NAME, DEFAULT_MU); self.known.len() + 1];
        for (hundredths, number) in &self.known {
            let mu = f64::from(*hundredths) / 100.0;
            all[usize::from(*number)] = Material::new(format!("mu {mu:.2}"), mu);
        }
        all
    }
}
