//! Whether the unit of a file can be what was taken.

use crate::import::Says;
use crate::report::{Code, Finding, Hint, Quantity, Severity};

use crate::build::source::Part;
use crate::util::text::few_digits;

/// Metres.
const SMALL: f64 = 0.5;
const LARGE: f64 = 10_000.0;
/// As large as the domain of the default steps, beyond which a build stops.
const WHOLE: f64 = 1_048_576.0;

/// Who states unit or scale is believed. A file that states its own unit is believed unless its ground is very small.
pub fn finding(part: &Part) -> Option<Finding> {
    let [x, y, _] = part.extent();
    let longest = x.max(y);
    let is_small = longest > 0.0 && longest < SMALL;
    let end = match part.frame.says_unit() {
        Says::File if is_small => "",
        Says::Nobody if is_small || (LARGE..WHOLE).contains(&longest) => ", and nobody states its unit",
        _ => return None,
    };
    let text = format!("the ground is {} by {} m large{end}", few_digits(x), few_digits(y));
    let hint = Hint::Set { key: "unit", value: String::new() };
    let value = |name, value| Quantity { name, value, unit: "m" };
    let values = vec![value("width", x), value("depth", y)];
    Some(Finding { values, ..part.finding(Code::Unit, Severity::Warning, text, hint) })
}
