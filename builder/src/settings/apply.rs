//! What settings do to a scene.

use super::{
    MaterialRule, Settings, SettingsError,
    rule::{fits, idle},
};
use crate::names::{self, bounded, counted, suggestion};
use crate::{Material, Scene};
use std::{
    cell::LazyCell,
    collections::{HashMap, HashSet},
};

/// What settings did to a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Names of materials that only the one named "" fits, or none; sorted.
    pub unlisted: Vec<String>,
    /// Names of materials that keep the mu of their source, because nothing states another; sorted.
    pub plain: Vec<String>,
    /// The same of rolling resistance; sorted.
    pub plain_rr: Vec<String>,
    /// The same of gain; sorted.
    pub plain_gain: Vec<String>,
    /// Names of materials that the one named "" takes, and of each the name or pattern of an entry that fits it but for capitals,
    /// blanks and `_`; sorted.
    pub slips: Vec<(String, String)>,
    /// Patterns that fit no material, and entries whose materials earlier ones take, each with which of it.
    pub idle: Vec<String>,
}

impl Applied {
    /// Names of materials whose mu nobody stated: those that these settings leave as their source has it, where `before` says that
    /// nobody stated it there, and those that no entry fits.
    pub(crate) fn unstated(&self, settings: &Settings, before: impl Fn(&str) -> bool) -> HashSet<String> {
        let unfit = self.unlisted.iter().filter(|_| settings.rest().is_none());
        self.plain.iter().filter(|name| before(name)).chain(unfit).cloned().collect()
    }

    /// Without materials of other names than these.
    pub fn retain(&mut self, there: impl Fn(&str) -> bool) {
        for names in [&mut self.unlisted, &mut self.plain, &mut self.plain_rr, &mut self.plain_gain] {
            names.retain(|name| there(name));
        }
        self.slips.retain(|(name, _)| there(name));
    }
}

impl Settings {
    /// Gives the scene's materials their properties; the build leaves out what is no ground.
    ///
    /// The first entry whose name equals or whose pattern fits a material's name counts, wherever one named "" stands;
    /// that one takes the rest, and without it they have mu 1 and rr 1. Settings without materials change none.
    pub fn apply(&self, scene: &mut Scene) -> Result<Applied, SettingsError> {
        let mut applied = Applied::default();
        if let Some(tolerance) = self.patch_tolerance {
            scene.fields.iter_mut().for_each(|f| f.tolerance = tolerance);
        }
        if self.materials.is_empty() {
            applied.plain = scene.materials.iter().map(|m| m.name.clone()).collect();
            (applied.plain_rr, applied.plain_gain) = (applied.plain.clone(), applied.plain.clone());
        } else {
            self.apply_materials(scene, &mut applied)?;
        }
        let Applied { unlisted, plain, plain_rr, plain_gain, .. } = &mut applied;
        for names in [unlisted, plain, plain_rr, plain_gain] {
            names.sort_unstable();
            names.dedup();
        }
        applied.slips.sort_unstable();
        applied.slips.dedup();
        Ok(applied)
    }

    /// The entry named "", which takes what no other fits.
    pub fn rest(&self) -> Option<&MaterialRule> {
        self.materials.iter().find(|rule| rule.pattern.is_none() && rule.name.as_deref() == Some(""))
    }

    fn apply_materials(&self, scene: &mut Scene, applied: &mut Applied) -> Result<(), SettingsError> {
        let mut named: HashMap<&str, usize> = HashMap::new();
        let mut patterns: Vec<(usize, Vec<char>)> = Vec::new();
        for (i, rule) in self.materials.iter().enumerate() {
            if let Some(pattern) = &rule.pattern {
                patterns.push((i, pattern.chars().collect()));
            } else if let Some(name) = &rule.name {
                named.entry(name).or_insert(i);
            }
        }
        let rest = named.remove("");
        let names: Vec<Vec<char>> = scene.materials.iter().map(|m| m.name.chars().collect()).collect();
        let mut used = vec![false; self.materials.len()];
        for (material, name) in scene.materials.iter_mut().zip(&names) {
            let exact = named.get(material.name.as_str()).copied();
            let pattern = patterns.iter().find(|(_, pattern)| fits(pattern, name)).map(|p| p.0);
            let first = exact.into_iter().chain(pattern).min();
            if first.is_none() {
                applied.unlisted.push(material.name.clone());
            }
            match first.or(rest) {
                Some(i) => {
                    used[i] = true;
                    self.materials[i].give(material);
                    let MaterialRule { mu, rr, gain, .. } = &self.materials[i];
                    let lists = [&mut applied.plain, &mut applied.plain_rr, &mut applied.plain_gain];
                    for (stated, names) in [mu, rr, gain].into_iter().zip(lists) {
                        names.extend(stated.is_none().then(|| material.name.clone()));
                    }
                }
                None => (material.mu, material.rr) = (1.0, 1.0),
            }
        }
        if rest.is_some() && !applied.unlisted.is_empty() {
            self.slips(applied);
        }
        let lower = || scene.materials.iter().map(|m| m.name.to_lowercase().chars().collect()).collect();
        let lower: LazyCell<Vec<Vec<char>>, _> = LazyCell::new(lower);
        let absent = self.absent(scene);
        if !absent.is_empty() {
            return Err(misnamed(&absent, &scene.materials));
        }
        let idles = |(i, rule): &(usize, &MaterialRule)| !used[*i] && Some(*i) != rest && rule.optional != Some(true);
        for (i, rule) in self.materials.iter().enumerate().filter(idles) {
            let why = match &rule.pattern {
                Some(pattern) => idle(pattern, &names, || (&lower[..], &scene.materials[..])),
                None => "an earlier entry takes it".into(),
            };
            applied.idle.push(format!("material {} ({:?}): {why}", i + 1, bounded(rule.title())));
        }
        Ok(())
    }

    /// Finds materials that only the entry named "" takes, though another one was hardly meant not to.
    fn slips(&self, applied: &mut Applied) {
        let spaced = |text: &str| text.to_lowercase().replace('_', " ");
        let joined = |text: &str| spaced(text).replace(' ', "");
        let letters = |text: String| text.chars().collect::<Vec<char>>();
        let mut named: HashMap<String, &str> = HashMap::new();
        let mut patterns: Vec<(Vec<char>, &str)> = Vec::new();
        for rule in &self.materials {
            if let Some(pattern) = &rule.pattern {
                let plain = spaced(pattern);
                // a blank beside a wildcard is one that is meant: "wet *" is not "wetland"
                if plain.contains(' ') && ![" *", " ?", "* ", "? "].iter().any(|beside| plain.contains(beside)) {
                    patterns.push((letters(joined(pattern)), pattern));
                }
                patterns.push((letters(plain), pattern));
            } else {
                named.entry(joined(rule.title())).or_insert(rule.title());
            }
        }
        named.remove("");
        for name in &applied.unlisted {
            let own = [spaced(name), joined(name)];
            let forms = own.clone().map(letters);
            let forms = if own[0] == own[1] { &forms[..1] } else { &forms[..] };
            let fit = |pattern: &[char]| forms.iter().any(|form| fits(pattern, form));
            let pattern = || patterns.iter().find(|(pattern, _)| fit(pattern)).map(|(_, title)| *title);
            if let Some(title) = named.get(&own[1]).copied().or_else(pattern) {
                applied.slips.push((name.clone(), title.into()));
            }
        }
    }

    /// Entries by a name that no material of a scene has, and that are not optional.
    pub fn absent(&self, scene: &Scene) -> Vec<&MaterialRule> {
        let there: HashSet<&str> = scene.materials.iter().map(|m| m.name.as_str()).collect();
        let missed = |name: &String| !name.is_empty() && !there.contains(name.as_str());
        let rules = self.materials.iter().filter(|rule| rule.optional != Some(true));
        rules.filter(|rule| rule.name.as_ref().is_some_and(missed)).collect()
    }
}

/// Absent names that an error tells.
const TOLD: usize = 50;

/// That no material has the names of these entries.
fn misnamed(absent: &[&MaterialRule], there: &[Material]) -> SettingsError {
    let wild = |name: &str| name.contains(['*', '?']);
    let told = |rule: &&MaterialRule| match rule.title() {
        name if wild(name) => format!("{0:?} (did you mean pattern = {0:?}?)", bounded(name)),
        name => format!("{:?}{}", bounded(name), suggestion(name, there.iter().map(|m| m.name.as_str()))),
    };
    // with the cause right behind its name
    let text = match absent {
        [rule] => {
            let name = bounded(rule.title());
            format!("material {name:?} is not in the scene{}", told(rule).trim_start_matches(&format!("{name:?}")))
        }
        _ => {
            let list = names::first(absent.iter().map(told), absent.len() as u64, TOLD);
            format!("{} are not in the scene: {list}", counted(absent.len() as u64, "material"))
        }
    };
    let hint = match absent {
        [rule] if wild(rule.title()) => "",
        [_] => "; with optional = true it may be absent",
        _ => "; with optional = true they may be absent",
    };
    SettingsError { line: absent.iter().find_map(|rule| rule.line), column: None, text: text + hint }
}
