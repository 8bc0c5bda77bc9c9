//! The steps of `hardpan build`: read, build, look, write, and say what there is.

use std::{
    collections::HashSet,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::build::error::BuildError;
use crate::build::error::Tried;
use crate::build::{Built, build_read};
use crate::check;
use crate::check::ground::gaps::{OfBuild, of_build};
use crate::export::debug::Debug;
use crate::grid::{Fit, Fitted, fitted as fit_to};
use crate::image::decode::larger_tiles;
use crate::image::earth::Earth;
use crate::import::file_name;
use crate::options::{Options, Rays};
use crate::settings::Settings;
use crate::util::text::metres;
use hardpan::Terrain;

use super::{
    super::{
        Done, Failure, Kind, NewFile, Replace, SETTINGS, backend, counted, debug, decimal,
        friction::Origin,
        grouped, is_nowhere, look as look_at, made_of, named, one_place,
        progress::stage,
        quoted,
        report::{Report, Seconds},
        write_image,
    },
    Args, Asked, Ready,
    raster::{fitted, found, rastered, told_of, told_of_found},
};

/// Where a build goes.
struct Plan<'a> {
    args: &'a Args,
    output: PathBuf,
    /// Whose the warnings are: the only source, or else the image.
    who: PathBuf,
    /// The OBJ to draw the image into, and its material library.
    drawing: Option<(&'a Path, PathBuf)>,
    /// The report would stand under the image's name.
    report_is_image: bool,
}

/// A field of heights that was made of the sources.
enum Heights {
    /// There is none.
    None,
    /// By posts that were stated.
    Raster(Fit),
    /// By posts that were found.
    Found(Tried),
}

/// Builds an image, proves it and writes it.
pub fn make(args: &Args, out: &mut dyn Write, report: &mut Report) -> Done {
    let mut asked = Asked::new(&args.from, &args.transform.with(&args.heights, Some(&args.cell)))?;
    asked.settings.rules.splice(0..0, args.precedence.iter().cloned());
    let plan = Plan::new(args, &asked, report)?;
    let mut ready = plan.read(asked, report)?;
    let (built, heights) = plan.build(&mut ready, report)?;
    let t = Terrain::open(&built.image).map_err(|e| Failure::open(&plan.output, e))?;
    plan.look(&t, &built, &mut ready, report)?;
    let beside = plan.gaps(&t, &built, &ready, report);
    plan.write(&t, &built, beside.as_ref(), report)?;
    report.describe(&t, &built.report);
    let settings = &ready.provenance.settings;
    match &heights {
        Heights::None => {}
        Heights::Raster(fit) => report.raster = Some(fitted(fit, settings.raster.as_ref())),
        Heights::Found(tried) => report.fit = Some(found(tried, settings.fit.as_ref())),
    }
    plan.note(&t, &built, &ready, report);
    plan.tell(&t, &built, &ready, &heights, beside.as_ref(), report, out)
}

impl<'a> Plan<'a> {
    /// Stops where something may not be written, before anything is read.
    fn new(args: &'a Args, asked: &Asked, report: &mut Report) -> Done<Self> {
        let sources = &asked.sources;
        let first = &sources[0].0;
        let output = output_of(args, first)?;
        let who = if sources.len() == 1 { first.clone() } else { output.clone() };
        report.output = file_name(&output);
        let report_is_image = args.report.iter().any(|place| one_place(place, &output) && !is_nowhere(place));
        report.withheld |= report_is_image;
        let of = || args.from.settings.iter().chain(sources.iter().map(|(file, _)| file));
        if let Some(place) = &args.report {
            made_of(place, of()).inspect_err(|_| report.withheld = true)?;
        }
        Replace::IMAGE.or_any(args.force).check_made(&output, Kind::IMAGE, of())?;
        let drawing = match &args.debug {
            Some(place) => Some((place.as_path(), debug::library(place, args.force, of())?)),
            None => None,
        };
        let Settings { raster, fit, patch_tolerance, .. } = &asked.settings;
        let is_fit = args.fit.is_some() || args.max_error.is_some() || (fit.is_some() && args.raster.is_none());
        let is_raster = args.raster.is_some() || raster.is_some() || is_fit;
        if args.raster_material.is_some() && !is_raster {
            let text = "--raster-material is of an image of heights; add --raster METRES, or leave it out";
            return Err(Failure::Input(text.into()));
        }
        if is_fit && patch_tolerance.is_some() {
            let text = "--fit and --max-error find the tolerance; leave patch_tolerance out of the settings";
            return Err(Failure::Input(text.into()));
        }
        Ok(Plan { args, output, who, drawing, report_is_image })
    }

    /// Reads the sources. None of their material libraries may be replaced.
    fn read(&self, asked: Asked, report: &mut Report) -> Done<Ready> {
        let kept = |libraries: &[&PathBuf], report: &mut Report| {
            if let Some(place) = &self.args.report {
                made_of(place, libraries.iter().copied()).inspect_err(|_| report.withheld = true)?;
                report.withheld = self.report_is_image;
            }
            if let Some((place, library)) = &self.drawing {
                made_of(place, libraries.iter().copied())?;
                made_of(library, libraries.iter().copied())?;
            }
            made_of(&self.output, libraries.iter().copied())
        };
        let mut ready = asked.read(|settings| self.args.over(settings), kept, report)?;
        let Settings { raster, fit, .. } = &ready.provenance.settings;
        let is_mesh = raster.is_none() && fit.is_none() && !ready.scene.triangles.is_empty();
        let build = &mut ready.provenance.settings.build;
        build.rays = build.rays.or(is_mesh.then_some(Rays::All));
        let factors = self.args.factors.factors();
        if !factors.is_none() {
            factors.apply(&mut ready.scene.materials).map_err(|e| Failure::build(&self.who, e.into()))?;
            (report.factors, ready.provenance.factors) = (Some(factors), Some(factors));
        }
        if factors.states_mu() {
            ready.provenance.mu_by_default.clear();
        }
        if factors.mu_override.is_some() {
            // which says it of all of them
            (ready.applied.plain, ready.applied.unlisted) = Default::default();
        }
        Ok(ready)
    }

    fn build(&self, ready: &mut Ready, report: &mut Report) -> Done<(Built, Heights)> {
        let backend = self.args.backend.open(ready.scene.triangles.len())?;
        let Ready { provenance, scene, sources, lain, height_error, .. } = ready;
        let options = provenance.settings.build.clone();
        let failed = |e| match e {
            BuildError::Empty => lain.empty(scene, sources, &options),
            e => Failure::build(&self.who, e),
        };
        let began = Instant::now();
        let built = if provenance.settings.raster.is_some() {
            rastered(self.args, &self.who, scene, provenance, backend.stages(), &failed)
                .map(|(built, fit)| (built, Heights::Raster(fit)))
        } else if let Some(to) = provenance.settings.fit.clone() {
            let find = || fit_to(scene, &options, &to, *height_error, Some(provenance), backend.stages());
            let found = stage("finding posts", find).0.map_err(&failed);
            found.map(|Fitted { built, tried }| (built, Heights::Found(tried)))
        } else {
            let build = || build_read(scene, &options, Some(provenance), backend.stages());
            stage("building", build).0.map(|built| (built, Heights::None)).map_err(&failed)
        };
        report.seconds.build = began.elapsed().as_secs_f64();
        backend::settle(&backend, report);
        built
    }

    /// Findings of the ground that a build looks for; stops with `--strict`.
    fn look(&self, t: &Terrain, built: &Built, ready: &mut Ready, report: &mut Report) -> Done {
        let Ready { provenance, scene, applied, sources, scene_file, .. } = ready;
        let Settings { allow, build, .. } = &provenance.settings;
        let allows = |f: &crate::report::Finding| allow.contains(&f.code);
        let all = check::built(&built.report, build);
        report.find(&named(&self.who), all.into_iter().filter(|f| !allows(f)));
        let there: HashSet<&str> = crate::image::materials::ground(t).into_iter().map(|(name, _)| name).collect();
        applied.retain(|name| there.contains(name));
        report.settle(applied);
        let origin = Origin {
            scene,
            applied,
            rules: &provenance.settings,
            strict: self.args.strict,
            settings: self.args.from.settings.as_deref(),
            sources,
            transform: &self.args.transform,
            scene_file: scene_file.as_deref(),
            output: &self.output,
        };
        origin.tell(t, report);
        let same = |code| code == crate::report::Code::SameHeight;
        let (looks, time) =
            stage("looking for ground at one height", || check::ground(t, Some(scene), &Default::default(), same));
        report.seconds.look += time.as_secs_f64();
        for look in looks {
            look.skipped.iter().for_each(|why| report.note(format!("{}: {why}", named(&self.who))));
            report.find(&named(&self.who), look.findings.into_iter().filter(|f| !allows(f)));
        }
        if self.args.strict && !report.warnings.is_empty() {
            let count = counted(report.warnings.len() as u64, "warning");
            return Err(Failure::check(&self.who, format!("{count}, and --strict: no image was written")));
        }
        Ok(())
    }

    /// Gaps beside the open edges, but of a field of heights.
    fn gaps(&self, t: &Terrain, built: &Built, ready: &Ready, report: &mut Report) -> Option<OfBuild> {
        let open = ready.provenance.settings.build.stitch.map(|_| built.report.stitch.open_edges);
        let (beside, time) = stage("looking for gaps", || of_build(t, Some(&ready.scene), open));
        report.seconds.look += time.as_secs_f64();
        report.gaps = Some(beside.facts());
        Some(beside)
    }

    fn write(&self, t: &Terrain, built: &Built, beside: Option<&OfBuild>, report: &mut Report) -> Done {
        let drawn = match &self.drawing {
            Some((place, library)) => {
                let (files, drawn) = stage("drawing", || debug::make(t, &Debug::USUAL, place, library)).0?;
                Some((files, debug::said(place, library, &Debug::USUAL, &drawn)))
            }
            None => None,
        };
        let divided = built.report.stitch.divided;
        let (written, time) =
            stage("writing and verifying", || write_image(&self.output, &self.who, &built.image, divided));
        report.seconds.verify = time.as_secs_f64();
        written?;
        if let Some((files, said)) = drawn {
            files.into_iter().try_for_each(NewFile::keep)?;
            report.drawn = Some(said);
        }
        if let Some(text) = beside.and_then(OfBuild::text) {
            report.note(format!("{}: {text}", named(&self.who)));
        }
        Ok(())
    }

    fn note(&self, t: &Terrain, built: &Built, ready: &Ready, report: &mut Report) {
        if let Some(text) = heavy(t, &ready.provenance.settings.build, built.report.packed.index_bytes) {
            report.note(format!("{}: {text}", named(&self.who)));
        }
    }

    /// Prints the image in a few lines.
    #[allow(clippy::too_many_arguments)]
    fn tell(
        &self,
        t: &Terrain,
        built: &Built,
        ready: &Ready,
        heights: &Heights,
        beside: Option<&OfBuild>,
        report: &Report,
        out: &mut dyn Write,
    ) -> Done {
        let settings = &ready.provenance.settings;
        let bytes = built.image.len() as u64;
        let what = match heights {
            Heights::Raster(fit) => {
                let apart = decimal(settings.raster.as_ref().map_or(0.0, |r| r.cell));
                format!("{} with ground, {apart} m apart, {} bytes", counted(fit.posts, "post"), grouped(bytes))
            }
            Heights::Found(tried) => {
                let apart = decimal(tried.pitch);
                format!("{} of heights, {apart} m apart, {} bytes", counted(tried.posts, "post"), grouped(bytes))
            }
            Heights::None if t.header().triangles == 0 => {
                let posts = built.report.posts;
                let each = bytes as f64 / posts as f64;
                format!("{} of heights, {} bytes ({each:.2} a post)", counted(posts, "post"), grouped(bytes))
            }
            Heights::None => {
                let triangles = t.header().triangles;
                let each = bytes as f64 / triangles as f64;
                format!("{}, {} bytes ({each:.1} a triangle)", counted(triangles, "triangle"), grouped(bytes))
            }
        };
        writeln!(out, "{}: {what}", named(&self.output))?;
        match heights {
            Heights::None => {}
            Heights::Raster(fit) => told_of(fit, out)?,
            Heights::Found(tried) => told_of_found(tried, out)?,
        }
        if let Some(crs) = Earth::told(t) {
            writeln!(out, "on earth: {crs}")?;
        }
        if ready.height_error > 0.0 {
            let off = metres(ready.height_error);
            writeln!(
                out,
                "laid on squares: heights at the posts of the files are off by up to {off}, which the image states"
            )?;
        }
        let [low, high] = t.bounds();
        let [wide, deep] = [0, 1].map(|i| high[i] - low[i]);
        writeln!(out, "ground of {wide:.3} by {deep:.3} m, z {:.3} to {:.3} m", low[2], high[2])?;
        let factors = self.args.factors.factors();
        if !factors.is_none() {
            writeln!(out, "friction: {factors}")?;
        }
        fates(&built.report, out)?;
        let beside = beside.map(|beside| beside.sum() + "; ").unwrap_or_default();
        let (bound, Seconds { read, build, look, verify }) = (t.bound(), report.seconds);
        let [tests, lines] = [counted(bound.tests, "test"), counted(bound.lines, "line")];
        writeln!(out, "{beside}any query costs at most {tests} and {lines} of 64 bytes")?;
        writeln!(
            out,
            "read in {read:.2} s, built in {build:.2} s, looked over in {look:.2} s; verified in {verify:.2} s"
        )?;
        match &report.drawn {
            Some(drawn) => writeln!(out, "{drawn}")?,
            None if is_nowhere(&self.output) => {}
            None => {
                let image = quoted(&self.output);
                writeln!(out, "next: {}; hardpan check {image}", look_at(&self.output))?;
            }
        }
        Ok(())
    }
}

/// Counts triangles that differ from the source.
pub fn fates(r: &crate::report::Report, out: &mut dyn Write) -> Done {
    let left_out = [
        (r.left_out.excluded, format!("{} not included", grouped(r.left_out.excluded))),
        (r.left_out.obstacles, counted(r.left_out.obstacles, "obstacle")),
        (r.left_out.vertical, format!("{} vertical", grouped(r.left_out.vertical))),
        (r.left_out.ceilings, counted(r.left_out.ceilings, "underside")),
        (r.left_out.steep, format!("{} steeper than the limit", grouped(r.left_out.steep))),
        (r.left_out.collapsed, format!("{} collapsed to a line or a point", grouped(r.left_out.collapsed))),
        (r.duplicates, counted(r.duplicates, "duplicate")),
        (r.outside, format!("{} outside the domain", grouped(r.outside))),
    ];
    let left_out: Vec<String> = left_out.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| text).collect();
    let mut all = Vec::new();
    if !left_out.is_empty() {
        all.push(format!("left out of {}: {}", counted(r.triangles_in, "triangle"), left_out.join(", ")));
    }
    let s = &r.stitch;
    if s.joined + s.divided > 0 {
        let [plan, height] = s.moved.map(|v| v * 1e3);
        let [joined, divided] = [counted(s.joined, "vertex"), counted(s.divided, "triangle")];
        all.push(format!(
            "gaps closed: {joined} joined, {divided} divided; nothing moved farther than {plan:.2} mm in plan and {height:.2} mm in height"
        ));
    }
    if !all.is_empty() {
        writeln!(out, "{}", all.join("; "))?;
    }
    if r.walls != [0; 2] {
        let [ceilings, obstacles] = r.walls;
        writeln!(out, "kept for rays: {} and {}", counted(ceilings, "ceiling"), counted(obstacles, "obstacle"))?;
    }
    Ok(())
}

/// Where the image goes, if nobody says.
fn output_of(args: &Args, first: &Path) -> Done<PathBuf> {
    match (&args.output, &args.from.settings, &args.from.files[..]) {
        (Some(output), ..) => Ok(output.clone()),
        (None, _, [only]) => Ok(only.with_extension("hpan")),
        (None, Some(settings), []) if !settings.is_file() => {
            let text = "this is no file after which an image could be called; name one with -o FILE.hpan";
            Err(Failure::input(settings, text))
        }
        // not into the folder of the sources, which may be another, nor under their name: of other settings is another
        // image
        (None, Some(settings), _) => Ok(settings.with_extension("hpan")),
        _ => Err(Failure::input(first, "several files make one image; name it with -o FILE.hpan")),
    }
}

/// Why an image is large for its triangles, and what to do: tiles that hold little, the rules of a preset, or needles
/// in fans.
fn heavy(t: &Terrain, options: &Options, index: u64) -> Option<String> {
    let h = t.header();
    let (bytes, triangles, tiles) = (h.total_len, h.triangles.max(1), u64::from(h.tile_count));
    let asked = options.split.is_some() || options.max_cost.is_some() || options.tile_log2.is_some();
    let [large, heavy] = if asked { ASKED } else { HEAVY };
    if bytes <= large || bytes / triangles < heavy || h.patch_blocks > 0 {
        return None;
    }
    let why = match (options.split, options.max_cost) {
        _ if bytes < LIGHT * tiles => {
            let then = match larger_tiles(t, (h.tile_log2 + 2).min(26)) {
                Some(log2) => format!("fewer take less, as with --tile {log2}"),
                None => {
                    "there are no larger ones that fit, and triangles that reach over fewer of them take less".into()
                }
            };
            format!("each of the {} has its own head and all that lies over it; {then}", counted(tiles, "tile"))
        }
        (Some(split), _) if index > bytes / 2 => format!(
            "{} divides this ground far; without it, or with a greater bundle_size or min_volume under [build.split] of {SETTINGS}, it takes less",
            split.title()
        ),
        (None, Some(most)) if index > bytes / 2 => {
            format!(
                "no more than {most} are allowed a query, and the ground is divided for that; allow more, and it may take less"
            )
        }
        _ => format!(
            "triangles lie crowded, up to {} over a place are tested; cut long ones that meet in a corner otherwise in the source, or lay less over each other",
            grouped(u64::from(t.bound().tests))
        ),
    };
    Some(format!("{} bytes a triangle: {why}", grouped(bytes / triangles)))
}

/// Bytes of an image, and of it for each triangle, from which on it is said why: of any, and where limits or rules were
/// asked for.
const HEAVY: [u64; 2] = [4 << 20, 300];
const ASKED: [u64; 2] = [256 << 10, 100];
/// Bytes of a tile below which it holds little for what it takes.
const LIGHT: u64 = 32 << 10;
