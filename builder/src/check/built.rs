//! Findings of a build: what it could not mend, or had to leave out.

use crate::options::{Options, Outliers};
use crate::report::{Bare, Code, Finding, Hint, Quantity, Repair, Report, Severity};
use crate::util::text::counted;

/// Findings of a build's report.
pub fn built(r: &Report, options: &Options) -> Vec<Finding> {
    let mut all: Vec<Finding> = r.outliers.iter().take(8).map(|outlier| outside(outlier, options)).collect();
    for (repair, code, what) in [(&r.weld, Code::NotWelded, "welded"), (&r.stitch, Code::NotStitched, "stitched")] {
        let left = repair.left.saturating_sub(repair.crowded);
        if repair.crowded > 0 {
            let (many, most) = (counted(repair.crowded, "vertex"), Repair::MAX_NEIGHBOURS);
            let text = format!("{many} not {what}, with more than {most} others within the threshold");
            all.push(count(code, Severity::Warning, repair.crowded, text, "choose a smaller threshold"));
        }
        if left > 0 {
            let text = format!("{} within the threshold of others not {what}", counted(left, "vertex"));
            let mend = "ground would be lost or moved too far; mend the mesh there, or choose another threshold";
            all.push(count(code, Severity::Warning, left, text, mend));
        }
    }
    if let Some(place) = r.stitch.slit.filter(|_| r.stitch.slits > 0) {
        let text = format!("{} beside an edge at another height could not be closed", counted(r.stitch.slits, "slit"));
        let mend = "a query on such a line may find no ground; mend the mesh there";
        let slit = count(Code::Slit, Severity::Note, r.stitch.slits, text, mend);
        all.push(Finding { place: Some(place), ..slit });
    }
    if let Some(c) = &r.contested {
        let (many, [stays, goes]) = (counted(c.triangles, "triangle"), [&c.stays, &c.goes].map(|m| format!("{m:?}")));
        let text = format!(
            "{many} lie exactly on others of another friction, as {goes} on {stays}, and {stays} answers by its name"
        );
        let mend = "state priority = 1 for the material that is meant";
        let found = count(Code::Contested, Severity::Warning, c.triangles, text, mend);
        all.push(Finding { subject: format!("{} and {}", c.goes, c.stays), ..found });
    }
    if let Some(Bare { triangles, material, at }) = &r.bare {
        let [x, y, z] = at.map(|v| format!("{v:.3}"));
        let many = counted(*triangles, "triangle");
        let lie = if *triangles == 1 { "gives" } else { "give" };
        let text = format!(
            "{many} of {material:?} {lie} friction alone and {} no ground within the band below, as at {x},{y},{z}",
            if *triangles == 1 { "has" } else { "have" }
        );
        let found = count(Code::NoGroundBelow, Severity::Warning, *triangles, text, Code::NoGroundBelow.entry().hint);
        all.push(Finding { subject: material.clone(), place: Some(*at), ..found });
    }
    all
}

fn outside(outlier: &crate::report::Outlier, options: &Options) -> Finding {
    let severity = if options.outliers == Outliers::Drop { Severity::Note } else { Severity::Warning };
    let text = format!("outside the domain, left out: {outlier}");
    let mend = match options.outliers {
        Outliers::Drop => "put it nearer if it belongs to the ground",
        Outliers::Stop => "put it nearer, or drop outliers",
    };
    let found = count(Code::Outside, severity, outlier.triangles, text, mend);
    Finding { subject: outlier.source.clone(), place: Some(outlier.at), ..found }
}

fn count(code: Code, severity: Severity, n: u64, text: String, mend: &str) -> Finding {
    let values = vec![Quantity { name: "count", value: n as f64, unit: "" }];
    Finding { code, severity, subject: String::new(), place: None, values, text, hint: Hint::Mend(mend.into()) }
}
