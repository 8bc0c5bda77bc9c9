//! `build --raster`: an image of heights instead of triangles.

use std::{io::Write, path::Path, time::Instant};

use crate::build::Built;
use crate::build::error::{BuildError, Tried};
use crate::grid::{Estimate, FieldPosts, Fit, Made, Places, Rule, Sampler};
use crate::image::provenance::Provenance;
use crate::report::Report;
use crate::scene::Scene;
use crate::settings::{FitTo, PostsAt, Raster, Settings};
use crate::util::text::{coordinate, counted, decimal, metres};
use hardpan_shaders::Stages;
use serde_json::{Value, json};

use super::{
    super::{Done, Failure, estimate, progress::stage, tell::Tell},
    Args,
};

/// An image of heights over a scene, as the settings have it, and how well it fits. What it became of is recorded in
/// them.
pub fn rastered(
    args: &Args,
    who: &Path,
    scene: &Scene,
    provenance: &mut Provenance,
    stages: &dyn Stages,
    failed: &dyn Fn(BuildError) -> Failure,
) -> Done<(Built, Fit)> {
    let Settings { build: options, raster, patch_tolerance: tolerance, .. } = &mut provenance.settings;
    let raster = raster.as_mut().expect("an image of heights is asked for");
    let begun = Instant::now();
    let (mended, _) = stage("mending", || Sampler::of_scene(scene, options, stages));
    let (ground, mesh) = mended.map_err(failed)?;
    let material = ground.material(raster.material.as_deref()).map_err(failed)?;
    raster.material = Some(material.name.clone());
    let posts = match raster.at {
        PostsAt::Multiples => ground.multiples(raster.cell),
        PostsAt::Centres => ground.squares(raster.cell).map(|squares| squares.posts()),
    };
    let posts = posts.map_err(failed)?;
    let heights = heights_at(&posts, &ground, args, who, scene.bytes(), stages, begun)?;
    let (options, tolerance) = (options.clone(), *tolerance);
    let image = || ground.image(posts, heights, &material, tolerance, &options, Some(&*provenance));
    let (mut built, fit) = stage("packing", image).0.map_err(failed)?;
    // what became of the triangles, and what there is of the field
    let Report { error_quantiles, posts, packed, .. } = std::mem::take(&mut built.report);
    built.report = Report { error_quantiles, posts, packed, ..mesh };
    Ok((built, fit))
}

/// The highest ground at posts. What it takes is said before; `more` are bytes that stay beside it.
fn heights_at(
    posts: &FieldPosts,
    ground: &Sampler,
    args: &Args,
    who: &Path,
    more: u64,
    stages: &dyn Stages,
    begun: Instant,
) -> Done<Vec<f64>> {
    let (columns, rows, apart) = (posts.x.len(), posts.y.len(), posts.pitch);
    let rule = Some(Rule::Highest);
    let places = Places { columns, rows, apart, rule, made: Made::Field, oracle: false, written: 0.0 };
    let estimate = Estimate::of(ground, &places, more, stages, begun);
    estimate::allowed(&estimate, who, "take posts farther apart with --raster")?;
    let mut tell = Tell::new(args.progress.is_json(), 1);
    estimate::say(&estimate, &places, &format!("posts {} m apart", decimal(apart)), &tell);
    let [x, y] = ground.inside(posts);
    let heights = ground.at_posts(&x, &y, Rule::Highest, stages, &mut tell.phase());
    tell.end();
    Ok(heights)
}

/// How well a field fits its mesh, for programs.
pub fn fitted(fit: &Fit, raster: Option<&Raster>) -> Value {
    let Fit { posts, lost, worst, stated, error_quantiles: shares } = fit;
    let [p50, p99, p999] = shares.height.map(|v| v.is_finite().then_some(v));
    let shares = json!({ "places": shares.places, "p50": p50, "p99": p99, "p999": p999 });
    let (pitch, at, material) = (raster.map(|r| r.cell), raster.map(|r| r.at), raster.map(|r| &r.material));
    json!({
        "pitch": pitch, "at": at, "material": material, "posts": posts, "lost": lost, "worst_at_posts": worst,
        "stated": stated, "shares": shares,
    })
}

/// The same in words.
pub fn told_of(fit: &Fit, out: &mut dyn Write) -> Done {
    let Fit { lost, worst, stated, error_quantiles: shares, .. } = fit;
    let [p50, p99, p999] = shares.height.map(|v| if v.is_finite() { metres(v) } else { "no ground".into() });
    writeln!(out, "error in height: at posts up to {}, stated {}", metres(*worst), metres(*stated))?;
    if shares.places > 0 {
        let places = counted(shares.places, "place");
        writeln!(out, "at {places} all over the mesh: p50 {p50}, p99 {p99}, p99.9 {p999}")?;
    }
    if *lost > 0 {
        writeln!(out, "lost: {} without a cell that has ground at all four corners", counted(*lost, "post"))?;
    }
    Ok(())
}

/// Posts that were found for a size and an error, for programs.
pub fn found(tried: &Tried, to: Option<&FitTo>) -> Value {
    let Tried { bytes, pitch, tolerance, posts, beyond, error, at, places, stated } = tried;
    let (size, most) = (to.and_then(|to| to.size), to.and_then(|to| to.max_error));
    json!({
        "size": size, "max_error": most, "material": to.and_then(|to| to.material.as_ref()), "bytes": bytes,
        "pitch": pitch, "tolerance": tolerance, "posts": posts, "beyond": beyond, "error": error, "at": at,
        "places": places, "stated": stated,
    })
}

/// The same in words.
pub fn told_of_found(tried: &Tried, out: &mut dyn Write) -> Done {
    let Tried { tolerance, beyond, error, at, places, stated, .. } = tried;
    let [x, y, z] = at.map(coordinate);
    let [error, stated, tolerance] = [error, stated, tolerance].map(|v| metres(*v));
    let places = counted(*places, "place");
    writeln!(
        out,
        "error in height: {error} at most of {places}, at {x},{y},{z}; stated {stated}, tolerance {tolerance}"
    )?;
    if *beyond > 0 {
        let posts = counted(*beyond, "post");
        writeln!(out, "not measured: {posts} at the border and in holes, where the source has no ground")?;
    }
    Ok(())
}
