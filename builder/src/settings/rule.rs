//! Entries of materials: what they fit, and what they say.

use super::{MaterialRule, Obstacle, PartRule, SourceFile};
use crate::scene::{Material, is_factor};
use crate::util::text::{bounded, decimal};

impl MaterialRule {
    /// The name or the pattern.
    pub fn title(&self) -> &str {
        self.name.as_ref().or(self.pattern.as_ref()).map_or("", String::as_str)
    }

    /// Whether it speaks of a material of this name.
    pub fn fits(&self, name: &str) -> bool {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        match &self.pattern {
            Some(pattern) => fits(&letters(pattern), &letters(name)),
            None => self.name.as_deref().is_some_and(|own| own.is_empty() || own == name),
        }
    }

    /// Factors that look like percent: mu above [`Self::MAX_MU`], rr and gain from [`Self::MIN_PERCENT`] on.
    pub fn doubtful(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let factors = [
            ("mu", self.mu.filter(|v| *v > Self::MAX_MU)),
            ("rr", self.rr.filter(|v| *v >= Self::MIN_PERCENT)),
            ("gain", self.gain.filter(|v| *v >= Self::MIN_PERCENT)),
        ];
        factors.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }

    /// No tyre on a road has more friction.
    pub const MAX_MU: f64 = 2.0;
    /// Half of 1 in percent.
    pub const MIN_PERCENT: f64 = 50.0;

    /// Without what is as it is by default and seldom said.
    pub fn brief(&self) -> Self {
        fn other<T: PartialEq + Clone>(value: &Option<T>, plain: &Option<T>) -> Option<T> {
            value.clone().filter(|_| value != plain)
        }
        let plain = MaterialRule::from(&Material::default());
        MaterialRule {
            obstacle: other(&self.obstacle, &plain.obstacle),
            classes: other(&self.classes, &plain.classes),
            cone_index: other(&self.cone_index, &plain.cone_index),
            label: other(&self.label, &plain.label),
            priority: other(&self.priority, &plain.priority),
            precedence: other(&self.precedence, &plain.precedence),
            friction_only: other(&self.friction_only, &plain.friction_only),
            ..self.clone()
        }
    }

    /// mu, rr and gain.
    pub(super) fn factors(&self) -> [Option<f64>; 3] {
        [self.mu, self.rr, self.gain]
    }

    /// A key with a number that it cannot have, and why.
    pub(super) fn fault(&self) -> Option<(&'static str, String)> {
        let factors = [("mu", self.mu), ("rr", self.rr), ("gain", self.gain), ("cone_index", self.cone_index)];
        let wrong = factors.into_iter().find_map(|(key, value)| Some((key, value.filter(|v| !is_factor(*v))?)));
        if let Some((key, value)) = wrong {
            return Some((key, format!("{key} is {}; write a number of 0 or more", decimal(value))));
        }
        let beyond = self.classes.iter().flatten().any(|&c| c > 31);
        beyond.then(|| ("classes", "classes go from 0 to 31".into()))
    }

    /// Whether it states no key.
    pub(super) fn is_silent(&self) -> bool {
        !MaterialRule::default().fill(self)
    }

    /// Takes the keys that it lacks from a less particular entry. Whether there is one.
    pub(super) fn fill(&mut self, other: &MaterialRule) -> bool {
        fn set<T: Clone>(to: &mut Option<T>, from: &Option<T>) -> bool {
            let takes = to.is_none() && from.is_some();
            if takes {
                to.clone_from(from);
            }
            takes
        }
        let takes = [
            set(&mut self.include, &other.include),
            set(&mut self.obstacle, &other.obstacle),
            set(&mut self.undersides, &other.undersides),
            set(&mut self.mu, &other.mu),
            set(&mut self.rr, &other.rr),
            set(&mut self.gain, &other.gain),
            set(&mut self.surface_type, &other.surface_type),
            set(&mut self.classes, &other.classes),
            set(&mut self.cone_index, &other.cone_index),
            set(&mut self.label, &other.label),
            set(&mut self.priority, &other.priority),
            set(&mut self.precedence, &other.precedence),
            set(&mut self.friction_only, &other.friction_only),
        ];
        takes.contains(&true)
    }

    pub(super) fn give(&self, m: &mut Material) {
        fn set<T: Copy>(to: &mut T, from: Option<T>) {
            *to = from.unwrap_or(*to);
        }
        set(&mut m.include, self.include);
        set(&mut m.obstacle, self.obstacle);
        set(&mut m.undersides, self.undersides.map(Some));
        set(&mut m.mu, self.mu);
        set(&mut m.rr, self.rr);
        set(&mut m.gain, self.gain);
        set(&mut m.surface, self.surface_type);
        set(&mut m.cone_index, self.cone_index);
        set(&mut m.class_mask, self.classes.as_ref().map(|c| c.iter().fold(0, |mask, c| mask | 1 << c)));
        set(&mut m.label, self.label);
        set(&mut m.priority, self.priority);
        set(&mut m.precedence, self.precedence);
        set(&mut m.friction_only, self.friction_only);
    }
}

impl PartRule {
    /// How messages call the rule at this place of the list.
    pub(crate) fn who(&self, i: usize) -> String {
        let given: Vec<String> = self.given().map(|(key, text)| format!("{key} {:?}", bounded(text))).collect();
        if given.is_empty() { format!("rule {}", i + 1) } else { format!("rule {} ({})", i + 1, given.join(", ")) }
    }

    /// Keys that must fit.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [("object", &self.object), ("file", &self.file), ("material", &self.material)];
        all.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?)))
    }

    /// Values for the faces.
    pub(crate) fn gives(&self) -> MaterialRule {
        MaterialRule {
            include: self.include,
            obstacle: self.obstacle,
            undersides: self.undersides,
            mu: self.mu,
            rr: self.rr,
            gain: self.gain,
            surface_type: self.surface_type,
            classes: self.classes.clone(),
            cone_index: self.cone_index,
            label: self.label,
            priority: self.priority,
            precedence: self.precedence,
            friction_only: self.friction_only,
            ..MaterialRule::default()
        }
    }
}

impl SourceFile {
    /// Values for all its faces.
    pub(crate) fn gives(&self) -> MaterialRule {
        MaterialRule {
            include: self.include,
            obstacle: self.obstacle.map(|o| o != Obstacle::No),
            undersides: self.undersides,
            mu: self.mu,
            rr: self.rr,
            gain: self.gain,
            surface_type: self.surface_type,
            cone_index: self.cone_index,
            label: self.label,
            priority: self.priority,
            precedence: self.precedence,
            friction_only: self.friction_only,
            ..MaterialRule::default()
        }
    }
}

/// An entry by name that gives all that the material has.
impl From<&Material> for MaterialRule {
    fn from(m: &Material) -> Self {
        MaterialRule {
            name: Some(m.name.clone()),
            pattern: None,
            optional: None,
            include: Some(m.include),
            obstacle: Some(m.obstacle),
            undersides: m.undersides,
            mu: Some(m.mu),
            rr: Some(m.rr),
            gain: Some(m.gain),
            surface_type: Some(m.surface),
            classes: Some((0..32).filter(|c| m.class_mask >> c & 1 == 1).collect()),
            cone_index: Some(m.cone_index),
            label: Some(m.label),
            priority: Some(m.priority),
            precedence: Some(m.precedence).filter(|p| *p != 0),
            friction_only: Some(m.friction_only).filter(|only| *only),
            line: None,
        }
    }
}

/// Whether a name fits a pattern of `*` and `?`.
pub(super) fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    // behind the last `*`, and the first character that it has not taken yet
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match (pattern.get(p), star) {
            (Some('*'), _) => {
                p += 1;
                star = Some((p, n));
            }
            (Some(&c), _) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
            (_, Some((after, taken))) => {
                (p, n) = (after, taken + 1);
                star = Some((after, taken + 1));
            }
            _ => return false,
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}
