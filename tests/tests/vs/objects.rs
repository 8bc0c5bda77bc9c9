//! Settings that speak of an object, a file or a placement.

use crate::shell::{error, expect, folder, holds, info};
use serde_json::Value;
use std::{fs, path::Path};

/// A square of 10 m by 4 m with its corner at x 0 and this y, as an object; the mesh names no material.
fn strip(object: &str, y: f64) -> String {
    let far = y + 4.0;
    format!("o {object}\nv 0 {y} 0\nv 10 {y} 0\nv 10 {far} 0\nv 0 {far} 0\nf -4 -3 -2 -1\n")
}

/// Two files, a road in front and ice behind it, neither with a material.
fn road_and_ice(test: &str) -> std::path::PathBuf {
    let here = folder(test);
    fs::write(here.join("asphalt.obj"), strip("Road", 0.0)).unwrap();
    fs::write(here.join("ice.obj"), strip("IcePatch", 4.0)).unwrap();
    here
}

const BOTH: &str = "[[source]]\nfile = \"asphalt.obj\"\n[[source]]\nfile = \"ice.obj\"\n";

/// Builds by these settings and gives back what is reported.
fn built(here: &Path, settings: &str) -> String {
    fs::write(here.join("s.toml"), settings).unwrap();
    let [_, err] = expect(0, here, &["build", "--settings", "s.toml", "-o", "s.hpan", "--force"]);
    err
}

/// The error of a build by these settings.
#[track_caller]
fn refused(here: &Path, settings: &str) -> String {
    fs::write(here.join("s.toml"), settings).unwrap();
    error(2, here, &["build", "--settings", "s.toml", "-o", "s.hpan", "--force"])
}

/// Answers of an image at places.
fn asked(here: &Path, image: &str, places: &[&str]) -> Vec<Value> {
    let [out, _] = expect(0, here, &[&["query", image, "--json"], places].concat());
    serde_json::from_str(&out).unwrap()
}

/// mu and material of each place.
fn grips(here: &Path, places: &[&str]) -> Vec<(f64, String)> {
    let all = asked(here, "s.hpan", places);
    all.iter().map(|a| (a["mu"].as_f64().unwrap(), a["material"].as_str().unwrap().into())).collect()
}

fn grip(mu: f64, material: &str) -> (f64, String) {
    (mu, material.into())
}

#[test]
fn by_14_rules_speak_of_objects_files_and_materials() {
    let here = folder("by_14_rules_speak_of_objects_files_and_materials");
    let with = |material: &str, object: &str, y: f64| format!("usemtl {material}\n{}", strip(object, y));
    let town = [with("Asphalt", "Road", 0.0), with("Grass", "Verge", 4.0), with("Asphalt", "Kerb_12", 8.0)].concat();
    fs::write(here.join("town.obj"), town).unwrap();
    fs::write(here.join("lot.obj"), [with("Asphalt", "Road", 12.0), with("Grass", "Lawn", 16.0)].concat()).unwrap();
    let files = "[[source]]\nfile = \"town.obj\"\n[[source]]\nfile = \"lot.obj\"\n";
    let materials = "[[material]]\nname = \"Asphalt\"\nmu = 0.9\nrr = 1.5\n[[material]]\nname = \"Grass\"\nmu = 0.5\n";
    let places = ["5,1", "5,5", "5,9", "5,13", "5,17"];

    // by object, in all files; what a rule leaves out stays as the material has it
    built(&here, &format!("{files}{materials}[[rule]]\nobject = \"Road\"\nmu = 0.7\n"));
    let wet = grip(0.7, "Asphalt @ Road");
    let wanted = [wet.clone(), grip(0.5, "Grass"), grip(0.9, "Asphalt"), wet.clone(), grip(0.5, "Grass")];
    assert_eq!(grips(&here, &places), wanted);
    assert!(asked(&here, "s.hpan", &["5,1", "5,9"]).iter().all(|a| a["rr"] == 1.5));

    // by all that is given; rules add up, wherever materials stand, and for each key the first counts; one that has no
    // number still names
    let rules = "[[rule]]\nfile = \"lot.obj\"\nobject = \"?oad\"\nname = \"Old road\"\n\
                 [[rule]]\nobject = \"*oad\"\nmu = 0.7\n\
                 [[rule]]\nfile = \"*\"\nmaterial = \"Gr*s\"\nmu = 0.4\nsurface_type = 2\n";
    built(&here, &format!("{rules}{files}{materials}"));
    let grass = grip(0.4, "Grass @ *");
    let wanted = [grip(0.7, "Asphalt @ *oad"), grass.clone(), grip(0.9, "Asphalt"), grip(0.7, "Old road"), grass];
    assert_eq!(grips(&here, &places), wanted);
    // the whole name of a source, as answers have it
    built(&here, &format!("{files}{materials}[[rule]]\nobject = \"lot.obj/Road\"\nmu = 0.2\n"));
    let lot = grip(0.2, "Asphalt @ lot.obj/Road");
    let [road, grass] = [grip(0.9, "Asphalt"), grip(0.5, "Grass")];
    assert_eq!(grips(&here, &places), [road.clone(), grass.clone(), road, lot, grass]);

    // a rule of a material alone leaves its name; an entry for the name that a rule gave has the last word
    let last = "[[rule]]\nmaterial = \"Grass\"\nrr = 3\n[[rule]]\nobject = \"Kerb_*\"\nname = \"Kerb\"\nmu = 0.6\n\
                [[material]]\nname = \"Kerb\"\nmu = 0.3\n";
    built(&here, &format!("{files}{materials}{last}"));
    assert_eq!(grips(&here, &places[1..3]), [grip(0.5, "Grass"), grip(0.3, "Kerb")]);
    assert_eq!(asked(&here, "s.hpan", &["5,5"])[0]["rr"], 3.0);

    // two materials that differ cannot have one name
    let why = refused(&here, &format!("{files}{materials}[[rule]]\nobject = \"*\"\nname = \"All\"\nrr = 1\n"));
    holds(&why, &["rule 1 (object \"*\"): two materials would be called \"All\", with mu 0.", "or give another name"]);
    built(&here, &format!("{files}{materials}[[rule]]\nobject = \"*\"\nname = \"All\"\nrr = 1\nmu = 0.6\n"));
    assert_eq!(grips(&here, &places), vec![grip(0.6, "All"); 5]);

    // one that earlier ones leave nothing is reported
    let rules = "[[rule]]\nobject = \"*\"\nmu = 1\n[[rule]]\nobject = \"Road\"\nmu = 0.2\n";
    let err = built(&here, &format!("{files}{materials}{rules}"));
    holds(&err, &["do nothing: rule 2 (object \"Road\"): earlier rules state all that it states"]);
    assert_eq!(grips(&here, &["5,1"]), [grip(1.0, "Asphalt @ *")]);
}

/// Each key has the value of the most particular entry that states it.
#[test]
fn by_14_settings_add_up_key_by_key() {
    let here = folder("by_14_settings_add_up_key_by_key");
    let with = |material: &str, object: &str, y: f64| format!("usemtl {material}\n{}", strip(object, y));
    let town = [with("Concrete", "Road", 0.0), with("Concrete", "Yard", 4.0), with("Gravel", "Path", 8.0)].concat();
    fs::write(here.join("town.obj"), town).unwrap();
    let source = "[[source]]\nfile = \"town.obj\"\n";
    let exact = "[[material]]\nname = \"Concrete\"\nmu = 0.2\n";
    let pattern = "[[material]]\npattern = \"*\"\nmu = 0.5\n";
    let rule = "[[rule]]\nobject = \"Road\"\nrr = 3\n";
    let places = ["5,1", "5,5", "5,9"];
    let factors = |settings: &str| {
        built(&here, settings);
        let [out, _] = expect(0, &here, &["info", "s.hpan", "--materials", "--json"]);
        let facts: Value = serde_json::from_str(&out).unwrap();
        let materials = facts["materials"].as_array().unwrap();
        let all = asked(&here, "s.hpan", &places);
        let of = |a: &Value| materials.iter().find(|m| m["name"] == a["material"]).unwrap();
        all.iter().map(|a| ["mu", "rr", "gain"].map(|key| of(a)[key].as_f64().unwrap())).collect::<Vec<_>>()
    };
    // a rule that sets only rr leaves mu, whichever entry stands first
    let wanted = [[0.2, 3.0, 1.0], [0.2, 1.0, 1.0], [0.5, 1.0, 1.0]];
    assert_eq!(factors(&[source, exact, pattern, rule].concat()), wanted);
    assert_eq!(factors(&[source, rule, pattern, exact].concat()), wanted);
    assert_eq!(grips(&here, &["5,1"]), [grip(0.2, "Concrete @ Road")]);
    // name before pattern, source before both, rule before source, two rules, and an entry for the name that a rule
    // gave before all
    let pattern = "[[material]]\npattern = \"*\"\nmu = 0.5\nrr = 5\ngain = 5\n";
    let wanted = [[0.2, 3.0, 5.0], [0.2, 5.0, 5.0], [0.5, 5.0, 5.0]];
    assert_eq!(factors(&[source, exact, pattern, rule].concat()), wanted);
    let source = "[[source]]\nfile = \"town.obj\"\nrr = 6\n";
    let wanted = [[0.2, 3.0, 5.0], [0.2, 6.0, 5.0], [0.5, 6.0, 5.0]];
    assert_eq!(factors(&[source, exact, pattern, rule].concat()), wanted);
    let second = "[[rule]]\nmaterial = \"Concrete\"\nmu = 0.7\nrr = 7\n";
    let wanted = [[0.7, 3.0, 5.0], [0.7, 7.0, 5.0], [0.5, 6.0, 5.0]];
    assert_eq!(factors(&[source, exact, pattern, rule, second].concat()), wanted);
    let given = "[[material]]\nname = \"Concrete @ town.obj @ Road\"\nrr = 8\n";
    let wanted = [[0.7, 8.0, 5.0], [0.7, 7.0, 5.0], [0.5, 6.0, 5.0]];
    assert_eq!(factors(&[source, exact, pattern, rule, second, given].concat()), wanted);
    // each faces' rules make one name, and two rules make another than one of them
    let second = "[[rule]]\nfile = \"town.obj\"\ngain = 9\n";
    let wanted = [[0.2, 3.0, 9.0], [0.2, 5.0, 9.0], [0.5, 5.0, 9.0]];
    let source = "[[source]]\nfile = \"town.obj\"\n";
    assert_eq!(factors(&[source, exact, pattern, rule, second].concat()), wanted);
    let names: Vec<String> = grips(&here, &places).into_iter().map(|g| g.1).collect();
    assert_eq!(names, ["Concrete @ Road @ town.obj", "Concrete @ town.obj", "Gravel @ town.obj"]);
    // the first rule that fits gives the name: a later one, for all, takes no material away from it
    let road = "[[rule]]\nobject = \"Road\"\nmu = 0.9\n";
    let other = "[[rule]]\nobject = \"*\"\nname = \"Other\"\nmu = 0.3\n";
    let rest = "[[material]]\nname = \"Rest\"\nmu = 0.3\n[[rule]]\nobject = \"*\"\nname = \"Rest\"\n";
    let named = |road: &str, other: &str| [grip(0.9, road), grip(0.3, other), grip(0.3, other)];
    built(&here, &[source, road, other].concat());
    assert_eq!(grips(&here, &places), named("Concrete @ Road", "Other"));
    built(&here, &[source, road, rest].concat());
    assert_eq!(grips(&here, &places), named("Concrete @ Road", "Rest"));
    let asphalt = "[[rule]]\nobject = \"Road\"\nname = \"Asphalt\"\nmu = 0.9\n";
    built(&here, &[source, asphalt, other].concat());
    assert_eq!(grips(&here, &places), named("Asphalt", "Other"));
    // two rules for one object give one name
    built(&here, &[source, road, rule].concat());
    assert_eq!(grips(&here, &["5,1"]), [grip(0.9, "Concrete @ Road")]);
    // no entry fits, and the one named "" says the rest
    let rest = "[[material]]\nname = \"\"\nmu = 0.4\ngain = 4\n";
    let wanted = [[0.2, 3.0, 1.0], [0.2, 1.0, 1.0], [0.4, 1.0, 4.0]];
    assert_eq!(factors(&[source, exact, rest, rule].concat()), wanted);
}

#[test]
fn by_14_a_source_speaks_of_all_its_faces() {
    let here = road_and_ice("by_14_a_source_speaks_of_all_its_faces");
    let places = ["5,1", "5,5"];
    // under the source
    let err = built(&here, "[[source]]\nfile = \"asphalt.obj\"\nmu = 0.4\n[[source]]\nfile = \"ice.obj\"\nmu = 0.1\n");
    assert!(!err.contains("mu is"), "{err}");
    assert_eq!(grips(&here, &places), [grip(0.4, "unnamed @ asphalt.obj"), grip(0.1, "unnamed @ ice.obj")]);
    let err = built(&here, &format!("{BOTH}mu = 0.1\n"));
    holds(&err, &["warning: ", "mu is 0.85 by default of 1 of 2 materials (\"unnamed\" 40.0 m2)"]);
    // its material, of which an entry speaks
    let ice = "material = \"Ice\"\n[[material]]\nname = \"Ice\"\nmu = 0.15\n[[material]]\nname = \"\"\nmu = 0.9\n";
    built(&here, &format!("{BOTH}{ice}"));
    assert_eq!(grips(&here, &places), [grip(0.9, "unnamed"), grip(0.15, "Ice")]);
    built(&here, &format!("{BOTH}material = \"Ice\"\nmu = 0.1\n"));
    assert_eq!(grips(&here, &places), [grip(0.85, "unnamed"), grip(0.1, "Ice")]);
    // rules come after it, and ask for its material
    built(&here, &format!("{BOTH}material = \"Ice\"\nmu = 0.1\nrr = 2\n[[rule]]\nmaterial = \"I*\"\nmu = 0.05\n"));
    let answer = &asked(&here, "s.hpan", &["5,5"])[0];
    assert_eq!([&answer["mu"], &answer["rr"]], [0.05, 2.0]);
    // its other keys
    built(&here, &format!("{BOTH}include = false\n"));
    assert_eq!(info(&here, "s.hpan")["triangles"], 2);
    built(&here, &format!("{BOTH}obstacle = 1\n"));
    assert_eq!(asked(&here, "s.hpan", &["5,5"])[0]["status"], "not in image");
    let over = "[[source]]\nfile = \"asphalt.obj\"\nmu = 0.9\n[[source]]\nfile = \"asphalt.obj\"\nmu = 0.2\n";
    let err = built(&here, over);
    holds(&err, &["2 triangles lie exactly on others of another friction"]);
    let err = built(&here, &format!("{over}priority = 1\n"));
    assert!(!err.contains("lie exactly") && grips(&here, &["5,1"])[0].0 == 0.2, "{err}");
    let err = built(&here, &over.replace("0.9", "90"));
    holds(&err, &["look like percent", "source 1 (\"asphalt.obj\") mu 90"]);
}

/// First attempts that fail lead to lines that work.
#[test]
fn by_14_hints_lead_to_what_works() {
    let here = road_and_ice("by_14_hints_lead_to_what_works");
    let why = refused(&here, "material = \"Ice\"\n[[source]]\nfile = \"asphalt.obj\"\n");
    holds(&why, &["s.toml: line 1, column 12: ", "expected a list of tables: [[source]], [[material]]"]);
    built(&here, "[[source]]\nfile = \"asphalt.obj\"\nmaterial = \"Ice\"\n");
    assert_eq!(grips(&here, &["5,1"]), [grip(0.85, "Ice")]);
    built(&here, &format!("{BOTH}[[rule]]\nobject = \"IcePatch\"\nmu = 0.1\n"));
    assert_eq!(grips(&here, &["5,1", "5,5"]), [grip(0.85, "unnamed"), grip(0.1, "unnamed @ IcePatch")]);
    let why = refused(&here, "mu = 0.3\n[[source]]\nfile = \"asphalt.obj\"\n");
    holds(&why, &["line 1, column 1: \"mu\" is not known here; known: crs, "]);

    // an object's name or key under [[material]], and a file's material above its [[source]]
    let material = "[[material]]\nname = \"IcePatch\"\nmu = 0.1\n[[material]]\nname = \"\"\nmu = 0.9\n";
    let why = refused(&here, &format!("{BOTH}{material}"));
    holds(&why, &["line 6: material \"IcePatch\" is not in the scene", ": [[rule]] object = \"IcePatch\""]);
    let rule = material.replacen("[[material]]\nname", "[[rule]]\nobject", 1);
    built(&here, &format!("{BOTH}{rule}"));
    assert_eq!(grips(&here, &["5,1", "5,5"]), [grip(0.9, "unnamed"), grip(0.1, "unnamed @ IcePatch")]);
    let why = refused(&here, &format!("{BOTH}{}", material.replacen("name", "object", 1)));
    holds(&why, &["line 6, column 1: \"object\" is not known here (a [[rule]] has it); known: name, pattern, "]);
    let why = refused(&here, "material = \"Ice\"\n[[source]]\nfile = \"asphalt.obj\"\n");
    holds(&why, &["line 1, column 12: ", "; the material of all faces of a file stands below its [[source]]"]);

    // what is not there, with what is
    let rule = |text: &str| refused(&here, &format!("{BOTH}[[rule]]\n{text}\nmu = 0.1\n"));
    for (text, wanted) in [
        ("object = \"IcePacth\"", "rule 1 (object \"IcePacth\"): there is no such object (did you mean \"IcePatch\"?)"),
        ("object = \"Lake\"", "rule 1 (object \"Lake\"): there is no such object; there are \"IcePatch\", \"Road\";"),
        ("file = \"ice.fbx\"", "there is no such file (did you mean \"ice.obj\"?)"),
        ("file = \"ice.obj\"\nobject = \"Raod\"", "there is no such object \"Raod\" (did you mean \"Road\"?)"),
        (
            "file = \"ice.obj\"\nobject = \"Road\"",
            "rule 1 (object \"Road\", file \"ice.obj\"): no face is of all of them",
        ),
        ("material = \"Ice\"", "there is no such material; there are \"unnamed\""),
    ] {
        holds(&rule(text), &["s.toml: line 5: ", wanted, "; with optional = true it may be absent\n"]);
    }
    built(&here, &format!("{BOTH}[[rule]]\nobject = \"Lake\"\noptional = true\nmu = 0.1\n"));
    assert_eq!(grips(&here, &["5,5"]), [grip(0.85, "unnamed")]);
}

/// Three levels of detail and a hull of one material: only what was meant is ground.
#[test]
fn by_14_levels_of_detail_and_hulls_are_left_out_by_their_names() {
    let here = folder("by_14_levels_of_detail_and_hulls_are_left_out_by_their_names");
    let sheet = |name: &str, z: f64| {
        format!("o {name}\nusemtl Ground\nv 0 0 {z}\nv 10 0 {z}\nv 10 10 {z}\nv 0 10 {z}\nf -4 -3 -2 -1\n")
    };
    let hull = "o UCX_Terrain_01\nusemtl Ground\nv 0 0 -1\nv 10 0 -1\nv 10 10 -1\nv 0 10 -1\nv 0 0 2\nv 10 0 2\nv 10 10 2\nv 0 10 2\n\
                f -8 -5 -6 -7\nf -4 -3 -2 -1\nf -8 -7 -3 -4\nf -7 -6 -2 -3\nf -6 -5 -1 -2\nf -5 -8 -4 -1\n";
    let levels = [("Terrain_LOD0", 0.0), ("Terrain_LOD1", 0.25), ("Terrain_LOD2", -0.25)];
    let text: String = levels.iter().map(|(name, z)| sheet(name, *z)).chain([hull.into()]).collect();
    fs::write(here.join("terrain.obj"), text).unwrap();
    let file = "[[source]]\nfile = \"terrain.obj\"\n";
    built(&here, file);
    assert_eq!(asked(&here, "s.hpan", &["3,3"])[0]["source"], "UCX_Terrain_01", "that is why");
    let out = |object: &str| format!("[[rule]]\nobject = \"{object}\"\ninclude = false\n");
    built(&here, &format!("{file}{}{}{}", out("*_LOD1"), out("*_LOD2"), out("UCX_*")));
    let answer = &asked(&here, "s.hpan", &["3,3"])[0];
    assert_eq!((&answer["source"], &answer["z"]), (&"Terrain_LOD0".into(), &0.0.into()));
    assert_eq!(info(&here, "s.hpan")["triangles"], 2);
}

/// A file of a trial in a test's folder; none without the trials.
fn trial_in(here: &Path, trial: &str, name: &str) -> Option<()> {
    fs::copy(verification::obj::trial(trial)?.join(name), here.join(name)).map(drop).ok()
}

#[test]
fn by_14_the_trial_of_friction_by_object_builds_as_meant() {
    let here = folder("by_14_the_trial_of_friction_by_object_builds_as_meant");
    let files =
        ["asphalt.obj", "ice.obj", "mu_under_source.toml", "material_under_source.toml", "object_as_material.toml"];
    let Some(_) = files.iter().map(|name| trial_in(&here, "friction_by_object", name)).collect::<Option<Vec<_>>>()
    else {
        return;
    };
    fn typed(settings: &str) -> [&str; 6] {
        ["build", "--settings", settings, "-o", "s.hpan", "--force"]
    }
    expect(0, &here, &typed("mu_under_source.toml"));
    assert_eq!(grips(&here, &["5,1"]), [grip(0.4, "unnamed @ asphalt.obj")]);
    expect(0, &here, &typed("material_under_source.toml"));
    assert_eq!(grips(&here, &["5,5"]), [grip(0.1, "Ice")]);
    // an object is no material: a rule speaks of it
    let why = error(2, &here, &typed("object_as_material.toml"));
    holds(&why, &["object_as_material.toml: line 6: material \"IcePatch\" is not in the scene"]);
    built(&here, &format!("{BOTH}[[rule]]\nobject = \"IcePatch\"\nmu = 0.1\n[[material]]\nname = \"\"\nmu = 0.9\n"));
    assert_eq!(grips(&here, &["5,1", "5,5"]), [grip(0.9, "unnamed"), grip(0.1, "unnamed @ IcePatch")]);
}

#[test]
fn by_14_the_trial_of_levels_of_detail_and_a_hull_builds_as_meant() {
    let here = folder("by_14_the_trial_of_levels_of_detail_and_a_hull_builds_as_meant");
    let Some(()) = trial_in(&here, "lods_and_hull", "terrain.obj") else { return };
    // the mesh of the first level alone, which stands first
    let text = fs::read_to_string(here.join("terrain.obj")).unwrap();
    let (first, _) = text.split_once("o Terrain_LOD1").unwrap();
    fs::write(here.join("first.obj"), first).unwrap();
    let out = |object: &str| format!("[[rule]]\nobject = \"{object}\"\ninclude = false\n");
    let rules = format!("{}{}{}", out("*_LOD1"), out("*_LOD2"), out("UCX_*"));
    built(&here, &format!("[[source]]\nfile = \"terrain.obj\"\n{rules}"));
    expect(0, &here, &["build", "first.obj"]);
    let [whole, first] = ["s.hpan", "first.hpan"].map(|image| info(&here, image));
    assert_eq!((&whole["triangles"], &whole["bounds"]), (&first["triangles"], &first["bounds"]));
    let corners: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("v ")).take(400).collect();
    let places: Vec<String> =
        corners.iter().step_by(40).map(|v| v.split(' ').take(2).collect::<Vec<_>>().join(",")).collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let heights = |image: &str| -> Vec<Value> { asked(&here, image, &places).iter().map(|a| a["z"].clone()).collect() };
    assert_eq!(heights("s.hpan"), heights("first.hpan"));
    assert!(asked(&here, "s.hpan", &places).iter().all(|a| a["source"] == "Terrain_LOD0"));
}

#[test]
fn by_14_each_placement_has_a_name() {
    let here = folder("by_14_each_placement_has_a_name");
    fs::write(here.join("ramp.obj"), strip("Road", 0.0)).unwrap();
    let at = |y: u32, more: &str| format!("[[source]]\nfile = \"ramp.obj\"\ntranslate = [0, {y}, 0]\n{more}");
    let places = ["5,1", "5,11", "5,21"];
    let sources = |here: &Path| -> Vec<String> {
        asked(here, "s.hpan", &places).iter().map(|a| a["source"].as_str().unwrap().into()).collect()
    };
    built(&here, &[at(0, ""), at(10, ""), at(20, "")].concat());
    assert_eq!(sources(&here), ["ramp.obj/Road", "ramp.obj#2/Road", "ramp.obj#3/Road"]);
    built(&here, &[at(0, ""), at(10, "name = \"North ramp\"\n"), at(20, "")].concat());
    assert_eq!(sources(&here), ["ramp.obj/Road", "North ramp/Road", "ramp.obj#3/Road"]);
    // rules by each of these names, and by that of the file
    let rule = |file: &str, mu: f64| format!("[[rule]]\nfile = \"{file}\"\nmu = {mu}\n");
    let rules = [rule("North ramp", 0.1), rule("ramp.obj#3", 0.2), rule("ramp.obj", 0.3)].concat();
    built(&here, &[at(0, ""), at(10, "name = \"North ramp\"\n"), at(20, ""), rules].concat());
    assert_eq!(grips(&here, &places).into_iter().map(|g| g.0).collect::<Vec<_>>(), [0.3, 0.1, 0.2]);
    // one that is alone has the name that it is given, and else its object's
    built(&here, &at(0, "name = \"Hill\"\n"));
    assert_eq!(asked(&here, "s.hpan", &["5,1"])[0]["source"], "Hill/Road");
    built(&here, &at(0, ""));
    assert_eq!(asked(&here, "s.hpan", &["5,1"])[0]["source"], "Road");
    // no two are called alike
    let hills = [at(0, "name = \"Hill\"\n"), at(10, "name = \"Hill\"\n")].concat();
    holds(&refused(&here, &hills), &["line 8", "source 1 is called \"Hill\", too"]);
    let number = [at(0, "name = \"ramp.obj#2\"\n"), at(10, ""), at(20, "")].concat();
    holds(&refused(&here, &number), &["line 4", "a further placement of \"ramp.obj\" may be called \"ramp.obj#2\""]);
    // typed twice
    expect(0, &here, &["build", "ramp.obj", "./ramp.obj", "-o", "t.hpan"]);
    assert_eq!(info(&here, "t.hpan")["sources"], serde_json::json!(["ramp.obj#2/Road", "ramp.obj/Road"]));
    // a closed object that stands in two places is closed in each
    let cube = "o Box\nv 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nv 2 0 2\nv 2 2 2\nv 0 2 2\n\
                f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    fs::write(here.join("ramp.obj"), cube).unwrap();
    built(&here, &[at(0, ""), at(2, "")].concat());
    assert_eq!(info(&here, "s.hpan")["triangles"], 4, "two tops");
}

/// A plane that is scaled, rolled, pitched, yawed and moved, against matrices written here.
#[test]
fn by_14_placements_are_those_of_matrices() {
    let here = folder("by_14_placements_are_those_of_matrices");
    // z = 0.1 x + 0.05 y + 1, and the same with y up
    let plane = |x: f64, y: f64| 0.1 * x + 0.05 * y + 1.0;
    let corners = [[-40.0, -40.0], [40.0, -40.0], [40.0, 40.0], [-40.0, 40.0]].map(|[x, y]| [x, y, plane(x, y)]);
    let text = |place: &dyn Fn([f64; 3]) -> [f64; 3]| {
        let line = |p: &[f64; 3]| place(*p).map(|v| v.to_string()).join(" ");
        let lines: String = corners.iter().map(|p| format!("v {}\n", line(p))).collect();
        format!("o Plane\n{lines}f 1 2 3 4\n")
    };
    fs::write(here.join("z.obj"), text(&|p| p)).unwrap();
    fs::write(here.join("y.obj"), text(&|[x, y, z]| [x, z, -y])).unwrap();
    type Matrix = [[f64; 3]; 3];
    let times = |m: &Matrix, p: [f64; 3]| m.map(|row| row[0] * p[0] + row[1] * p[1] + row[2] * p[2]);
    for ([roll, pitch, yaw], scale) in [
        ([0.0, 5.0, 0.0], [1.0, 1.0, 1.0]),
        ([7.0, 0.0, 0.0], [1.0, 1.0, 0.5]),
        ([0.0, 0.0, 30.0], [2.0, 0.5, 1.0]),
        ([-12.5, 20.0, 250.0], [1.5, 0.75, 3.0]),
    ] {
        let [r, p, y] = [roll, pitch, yaw].map(f64::to_radians);
        let about_x = [[1.0, 0.0, 0.0], [0.0, r.cos(), -r.sin()], [0.0, r.sin(), r.cos()]];
        let about_y = [[p.cos(), 0.0, p.sin()], [0.0, 1.0, 0.0], [-p.sin(), 0.0, p.cos()]];
        let about_z = [[y.cos(), -y.sin(), 0.0], [y.sin(), y.cos(), 0.0], [0.0, 0.0, 1.0]];
        let translate = [3.0, -2.0, 10.0];
        let placed = |q: [f64; 3]| {
            let q = times(&about_z, times(&about_y, times(&about_x, [0, 1, 2].map(|i| q[i] * scale[i]))));
            [0, 1, 2].map(|i| q[i] + translate[i])
        };
        for (file, up) in [("z.obj", "z"), ("y.obj", "y")] {
            let [sx, sy, sz] = scale;
            built(
                &here,
                &format!(
                    "[[source]]\nfile = \"{file}\"\nup = \"{up}\"\nscale = [{sx}, {sy}, {sz}]\nroll_deg = {roll}\npitch_deg = {pitch}\n\
                     yaw_deg = {yaw}\ntranslate = [3, -2, 10]\n"
                ),
            );
            // of points of the plane, where they went
            for [x, y] in [[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [-20.0, 15.0]] {
                let [x, y, z] = placed([x, y, plane(x, y)]);
                let answer = &asked(&here, "s.hpan", &[&format!("{x},{y}")])[0];
                let found = answer["z"].as_f64().unwrap();
                assert!((found - z).abs() < 5e-4, "{file} {roll} {pitch} {yaw}: {found} for {z}");
            }
        }
    }
    // a level strip of 10 m under a pitch of 5 degrees goes down by the sine of it
    fs::write(here.join("ramp.obj"), strip("Road", 0.0)).unwrap();
    built(&here, "[[source]]\nfile = \"ramp.obj\"\npitch_deg = 5\n");
    let answer = &asked(&here, "s.hpan", &["9,1"])[0];
    let slope = 5f64.to_radians().tan();
    assert!((answer["z"].as_f64().unwrap() + 9.0 * slope).abs() < 1e-4, "{answer}");
    assert!((answer["slope"][0].as_f64().unwrap() + slope).abs() < 1e-4, "{answer}");
    let low = info(&here, "s.hpan")["bounds"]["min"][2].as_f64().unwrap();
    assert!((low + 10.0 * 5f64.to_radians().sin()).abs() < 1e-4, "{low}");
    // quarter turns are exact: on its side it has no plan area
    let why = refused(&here, "[[source]]\nfile = \"ramp.obj\"\nup = \"z\"\nroll_deg = 90\n");
    holds(&why, &["vertical"]);
    let why = refused(&here, "[[source]]\nfile = \"ramp.obj\"\nscale = [1, 1, 0]\n");
    holds(&why, &["line 3: source 1 (\"ramp.obj\"): "]);
}

/// The side that looks up answers for a sheet that is given front and back, whichever name comes first.
#[test]
fn by_14_of_a_sheet_with_two_sides_that_which_looks_up_answers() {
    let here = folder("by_14_of_a_sheet_with_two_sides_that_which_looks_up_answers");
    let sheet = |up: &str, down: &str| {
        format!(
            "o Plate\nv 0 0 0\nv 10 0 0\nv 10 10 1\nv 0 10 1\nusemtl {up}\nf 1 2 3\nf 1 3 4\nusemtl {down}\nf 3 2 1\nf 4 3 1\n"
        )
    };
    let file = "[[source]]\nfile = \"plate.obj\"\n";
    let mu = |name: &str, mu: f64, more: &str| format!("[[material]]\nname = \"{name}\"\nmu = {mu}\n{more}");
    for (up, down) in [("zz", "aa"), ("aa", "zz")] {
        fs::write(here.join("plate.obj"), sheet(up, down)).unwrap();
        let err = built(&here, &[file, &mu(up, 0.9, ""), &mu(down, 0.3, "")].concat());
        assert!(!err.contains("warning"), "{err}");
        assert_eq!(grips(&here, &["2,1", "8,3", "1,9"]), vec![grip(0.9, up); 3]);
        expect(0, &here, &["verify", "s.hpan", "--against", "plate.obj"]);
        // a priority goes before the side
        built(&here, &[file, &mu(up, 0.9, ""), &mu(down, 0.3, "priority = 1\n")].concat());
        assert_eq!(grips(&here, &["2,1", "8,3"]), vec![grip(0.3, down); 2]);
    }
    // where a quad is cut the one way in front and the other way behind, a rule says which side is meant
    let quads = "o Plate\nv 0 0 0\nv 10 0 0\nv 10 10 1\nv 0 10 1\nusemtl top\nf 1 2 3 4\nusemtl bottom\nf 4 3 2 1\n";
    fs::write(here.join("plate.obj"), quads).unwrap();
    let err = built(&here, &[file, &mu("top", 0.9, ""), &mu("bottom", 0.3, "")].concat());
    holds(&err, &["[same-height]"]);
    let rule = "[[rule]]\nobject = \"Plate\"\nundersides = \"ceiling\"\n";
    let err = built(&here, &[file, &mu("top", 0.9, ""), &mu("bottom", 0.3, ""), rule].concat());
    assert!(!err.contains("warning"), "{err}");
    let places = ["2,1", "8,3", "2,5", "3,8"];
    assert_eq!(grips(&here, &places), vec![grip(0.9, "top @ Plate"); 4]);
}

/// The ground of rules is exported, built again from the export, from settings of the image and from JSON, and each
/// time the same.
#[test]
fn by_14_images_made_by_rules_go_round() {
    let here = road_and_ice("by_14_images_made_by_rules_go_round");
    let settings = "[[source]]\nfile = \"asphalt.obj\"\nmu = 0.9\n\
                    [[source]]\nfile = \"ice.obj\"\nname = \"Lake\"\nmaterial = \"Ice\"\n\
                    [[source]]\nfile = \"ice.obj\"\ntranslate = [0, 4, 0]\nscale = [1, 1, 2]\npitch_deg = 1\n\
                    [[rule]]\nfile = \"ice.obj#3\"\nmu = 0.2\n\
                    [[rule]]\nfile = \"ice.obj\"\nobject = \"*Patch\"\nmu = 0.1\nclasses = [3]\n\
                    [[rule]]\nobject = \"Road\"\npriority = 2\n";
    // the second placement of ice.obj is ice.obj#2
    built(&here, &settings.replace("ice.obj#3", "ice.obj#2"));
    let identity = |image: &str| info(&here, image)["identity"].as_str().unwrap().to_owned();
    let wanted = identity("s.hpan");
    let names = ["unnamed @ asphalt.obj @ Road", "Ice @ ice.obj/*Patch", "unnamed @ ice.obj#2 @ ice.obj/*Patch"];
    let given = [0.9, 0.1, 0.2].iter().zip(names).map(|(mu, name)| grip(*mu, name));
    assert_eq!(grips(&here, &["5,1", "5,5", "5,9"]), given.collect::<Vec<_>>());

    expect(0, &here, &["export", "obj", "s.hpan", "-o", "back.obj"]);
    expect(0, &here, &["build", "--settings", "back.toml", "-o", "back.hpan"]);
    assert_eq!(identity("back.hpan"), wanted);
    for again in ["again.toml", "again.json"] {
        expect(0, &here, &["materials", "s.hpan", "-o", again]);
        let [_, err] = expect(0, &here, &["build", "--settings", again, "-o", "again.hpan", "--strict"]);
        assert!(!err.contains("do nothing"), "{err}");
        assert_eq!(identity("again.hpan"), wanted, "{again}");
    }
    let [out, err] = expect(0, &here, &["verify", "s.hpan", "--against", "asphalt.obj", "ice.obj"]);
    holds(&out, &["s.hpan: every claim holds"]);
    assert!(!err.contains("not in"), "{err}");
    // a material that is edited there has what it says
    let text = fs::read_to_string(here.join("again.toml")).unwrap();
    let edited = text.replace(
        "name = \"unnamed @ ice.obj#2 @ ice.obj/*Patch\"\ninclude = true\nmu = 0.2",
        "name = \"unnamed @ ice.obj#2 @ ice.obj/*Patch\"\ninclude = true\nmu = 0.25",
    );
    assert_ne!(edited, text);
    built(&here, &edited);
    assert_eq!(grips(&here, &["5,9"]), [grip(0.25, "unnamed @ ice.obj#2 @ ice.obj/*Patch")]);
    // a first settings file says that there are such rules
    expect(0, &here, &["materials", "ice.obj", "-o", "first.toml"]);
    holds(&fs::read_to_string(here.join("first.toml")).unwrap(), &["[[rule]]", "object = "]);
}
