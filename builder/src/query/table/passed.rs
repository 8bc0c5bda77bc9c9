//! Columns of a table that go with its answers.

use std::collections::HashMap;

use super::{
    Cause,
    layout::Column,
    lines::{Line, meant, number, unquoted},
};
use crate::util::text::brief;

/// Columns whose decimal commas become points.
const NUMBERS: [&str; 5] = ["z", "length", "t", "time", "yaw"];

/// Columns of a table that go with its answers as they stand.
#[derive(Default)]
pub struct Passed {
    /// Their names beside the answers. A column with a name of an answer gets the prefix `asked_`.
    pub names: Vec<String>,
    /// The same without quotes; a column without a name is `column_` and its number. Columns of the question are left
    /// out.
    pub keys: Vec<Option<String>>,
    /// Where they are, and whether they are of [`NUMBERS`].
    places: Vec<(usize, bool)>,
    /// The fields of all lines, each after a comma, and the end of each field.
    text: String,
    ends: Vec<usize>,
}

impl Passed {
    /// All columns except `own`, which answers have too. Those at `asked` are part of the question, and `answers` are
    /// names of answers. Two columns of one name are an error.
    pub(super) fn new(
        columns: &[Column],
        own: &[Option<usize>],
        asked: &[Option<usize>],
        answers: &[impl AsRef<str>],
    ) -> Result<Self, Cause> {
        let mut passed = Passed::default();
        let mut first: HashMap<String, usize> = HashMap::new();
        for (k, column) in columns.iter().enumerate().filter(|(k, _)| !own.contains(&Some(*k))) {
            let (mut name, mut key) = (column.text.clone(), meant(&column.text).trim().to_owned());
            if answers.iter().any(|name| name.as_ref() == column.name) {
                name = format!("asked_{}", column.name);
                key.clone_from(&name);
            } else if key.is_empty() {
                key = format!("column_{}", k + 1);
            }
            if let Some(other) = first.insert(key.clone(), k + 1) {
                return Err(Cause::SameName { columns: [other, k + 1], name: brief(&key, 40) });
            }
            passed.names.push(name);
            passed.keys.push(Some(key).filter(|_| !asked.contains(&Some(k))));
            passed.places.push((k, NUMBERS.contains(&&*column.name)));
        }
        Ok(passed)
    }

    pub(super) fn push(&mut self, line: &Line) {
        for (place, is_number) in &self.places {
            let field = line.get(*place).unwrap_or_default();
            let point = || Some(unquoted(field).replacen(',', ".", 1)).filter(|text| number(text, false).is_some());
            self.text.push(',');
            match Some(field).filter(|_| line.commas && field.contains(',')) {
                None => self.text += field,
                Some(_) if *is_number && let Some(point) = point() => self.text += &point,
                Some(_) if field.trim_start().starts_with('"') => self.text += field,
                Some(_) => self.text += &format!("\"{}\"", field.replace('"', "\"\"")),
            }
            self.ends.push(self.text.len());
        }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// The fields of a line, each after a comma, by its number since the last `clear`.
    pub fn line(&self, i: usize) -> &str {
        let count = self.places.len();
        &self.text[self.end(i * count)..self.end((i + 1) * count)]
    }

    /// The fields of a line one by one.
    pub fn fields(&self, i: usize) -> impl Iterator<Item = &str> {
        let count = self.places.len();
        (i * count..(i + 1) * count).map(|k| &self.text[self.end(k) + 1..self.end(k + 1)])
    }

    /// The end of this many fields.
    fn end(&self, fields: usize) -> usize {
        fields.checked_sub(1).map_or(0, |last| self.ends[last])
    }
}
