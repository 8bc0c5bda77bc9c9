//! One friction for all materials, or so many times as much.

use crate::options::OptionError;
use crate::scene::Material;
use crate::scene::is_factor;
use crate::util::text::decimal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Factors of mu and rolling resistance of all materials. The first number becomes the second, then it is multiplied.
/// Defaults without ground stay as the options have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Factors {
    /// Instead of every mu.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu_override: Option<f64>,
    /// Then times this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mu_multiply: Option<f64>,
    /// Instead of every rolling resistance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rr_override: Option<f64>,
    /// Then times this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rr_multiply: Option<f64>,
}

impl Factors {
    /// Whether all stays as it is.
    pub fn is_none(&self) -> bool {
        *self == Factors::default()
    }

    /// Whether it says what mu is, or how much of it there is.
    pub fn states_mu(&self) -> bool {
        self.mu_override.or(self.mu_multiply).is_some()
    }

    fn named(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("mu override", self.mu_override),
            ("mu multiply", self.mu_multiply),
            ("rr override", self.rr_override),
            ("rr multiply", self.rr_multiply),
        ]
    }

    /// Whether every number is one of 0 or more; an error says which is not.
    pub fn check(&self) -> Result<(), OptionError> {
        let wrong = self.named().into_iter().find_map(|(key, v)| Some((key, v.filter(|v| !is_factor(*v))?)));
        match wrong {
            Some((key, v)) => Err(OptionError(format!("{key} is {}; it must be a number of 0 or more", decimal(v)))),
            None => Ok(()),
        }
    }

    /// Changes these materials.
    ///
    /// # Errors
    ///
    /// If a number is out of its range, or becomes too large to be one; then they stay as they are.
    pub fn apply(&self, materials: &mut [Material]) -> Result<(), OptionError> {
        self.check()?;
        let mu = |m: &Material| (self.mu_override.unwrap_or(m.mu), self.mu_multiply.unwrap_or(1.0));
        let rr = |m: &Material| (self.rr_override.unwrap_or(m.rr), self.rr_multiply.unwrap_or(1.0));
        for m in materials.iter() {
            let both = [("mu", mu(m)), ("rr", rr(m))];
            if let Some((key, (v, times))) = both.into_iter().find(|(_, (v, times))| !is_factor(v * times)) {
                let [v, times] = [v, times].map(decimal);
                let text = format!("{key} {v} of material {:?} times {times} is no number; multiply by less", m.name);
                return Err(OptionError(text));
            }
        }
        let product = |(v, times): (f64, f64)| v * times + 0.0;
        materials.iter_mut().for_each(|m| (m.mu, m.rr) = (product(mu(m)), product(rr(m))));
        Ok(())
    }
}

/// `mu 1 of all, times 0.5; rr times 2`.
impl fmt::Display for Factors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |key: &str, other: Option<f64>, times: Option<f64>| {
            let times = times.map(|v| format!("times {}", decimal(v)));
            let words = [other.map(|v| format!("{} of all materials", decimal(v))), times];
            let words: Vec<String> = words.into_iter().flatten().collect();
            (!words.is_empty()).then(|| format!("{key} {}", words.join(", then ")))
        };
        let both = [said("mu", self.mu_override, self.mu_multiply), said("rr", self.rr_override, self.rr_multiply)];
        f.write_str(&both.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_change_nothing() {
        let mut all = [Material { rr: 0.5, ..Material::new("a", 1e200) }];
        let before = all.clone();
        for (factors, wanted) in [
            (
                Factors { mu_multiply: Some(-1.0), ..Factors::default() },
                "mu multiply is -1; it must be a number of 0 or more",
            ),
            (
                Factors { rr_override: Some(f64::NAN), ..Factors::default() },
                "rr override is NaN; it must be a number of 0 or more",
            ),
            (
                Factors { mu_multiply: Some(1e200), ..Factors::default() },
                "mu 1e200 of material \"a\" times 1e200 is no number; multiply by less",
            ),
        ] {
            assert_eq!(factors.apply(&mut all), Err(OptionError(wanted.into())));
            assert_eq!(all, before);
        }
    }
}
