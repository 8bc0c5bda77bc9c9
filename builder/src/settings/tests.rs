use super::rule::fits as fits_letters;
use super::*;
use crate::demo::fixtures;
use crate::options::{Fallback, Near, Split};
use crate::scene::{Material, Scene};

/// The error of TOML, without the column.
fn error(text: &str) -> String {
    SettingsError { column: None, ..Settings::from_toml(text).unwrap_err() }.to_string()
}

#[test]
fn vt_76_numbers_are_checked_with_index_and_name() {
    let text = "[[material]]\nname = \"Ice\"\nmu = 0.1\n\n[[material]]\nname = \"Setts\"\nrr = 1.5\nmu = -0.2\n";
    assert_eq!(error(text), "line 8: material 2 (\"Setts\"): mu is -0.2; write a number of 0 or more");
    for (key, value) in [("mu", "nan"), ("rr", "inf"), ("gain", "-1.0"), ("cone_index", "-inf")] {
        let why = error(&format!("[[material]]\nname = \"Ice\"\n{key} = {value}\n"));
        assert!(why.starts_with(&format!("line 3: material 1 (\"Ice\"): {key} is ")), "{why}");
    }
    let why = Settings::from_json(r#"{"material": [{"name": "Ice", "mu": -1}]}"#).unwrap_err();
    assert_eq!(why.to_string(), "material 1 (\"Ice\"): mu is -1; write a number of 0 or more");
    let zero = Settings::from_toml("[[material]]\nname = \"Ice\"\nmu = 0\nrr = 0.0\n").unwrap();
    assert_eq!((zero.materials[0].mu, zero.materials[0].rr), (Some(0.0), Some(0.0)));
}

#[test]
fn vt_77_include_in_both_forms() {
    for (text, wanted) in [("1", true), ("true", true), ("0", false), ("false", false)] {
        let toml = Settings::from_toml(&format!("[[material]]\nname = \"a\"\ninclude = {text}\n")).unwrap();
        let json = Settings::from_json(&format!(r#"{{"material": [{{"name": "a", "include": {text}}}]}}"#)).unwrap();
        assert_eq!([toml, json].map(|s| s.materials[0].include), [Some(wanted); 2]);
    }
    let why = error("[[material]]\nname = \"a\"\ninclude = 2\n");
    assert!(why.contains("line 3") && why.contains("true, false, 1 or 0"), "{why}");
    let why = error("[[material]]\nname = \"a\"\nobstacle = -1\n");
    assert!(why.contains("line 3") && why.contains("true, false, 1 or 0"), "{why}");
}

#[test]
fn vt_78_the_one_without_a_name_takes_the_rest() {
    let listed = "[[material]]\nname = \"\"\nmu = 0.3\nrr = 2\n[[material]]\nname = \"Grass\"\nmu = 0.4\n";
    let mut scene = fixtures::mats();
    let applied = Settings::from_toml(listed).unwrap().apply(&mut scene).unwrap();
    let factors = |scene: &Scene| scene.materials.iter().map(|m| (m.mu, m.rr)).collect::<Vec<_>>();
    assert_eq!(factors(&scene), [(0.3, 2.0), (0.4, 1.6), (0.3, 2.0)], "Concrete, Grass, and without a name");
    assert_eq!(applied.unlisted, ["", "Concrete"]);
    assert!(applied.plain.is_empty(), "each is given a mu");
    let plain = |text: &str| Settings::from_toml(text).unwrap().apply(&mut fixtures::mats()).unwrap().plain;
    assert_eq!(plain("build.near = 3"), ["", "Concrete", "Grass"]);
    assert_eq!(plain("[[material]]\nname = \"\"\nmu = 1\n[[material]]\nname = \"Grass\"\nrr = 2\n"), ["Grass"]);
    let mu = Settings::from_toml("[[material]]\nname = \"\"\nmu = 1\n[[material]]\nname = \"Grass\"\nmu = 1\nrr = 2\n");
    let applied_mu = mu.unwrap().apply(&mut fixtures::mats()).unwrap();
    assert_eq!((applied_mu.plain_rr.len(), applied_mu.plain_gain.len()), (2, 3), "all but Grass, and all");

    let mut scene = fixtures::mats();
    let alone = Settings::from_toml("[[material]]\nname = \"Grass\"\nmu = 0.4\n").unwrap();
    assert_eq!(alone.apply(&mut scene).unwrap().unlisted, ["", "Concrete"]);
    assert_eq!(factors(&scene), [(1.0, 1.0), (0.4, 1.6), (1.0, 1.0)]);
}

#[test]
fn entries_add_up_and_the_most_particular_counts() {
    let text = r#"
        material = [
            { pattern = "C*e", mu = 0.1, rr = 3 },
            { name = "Concrete", mu = 0.2 },
            { pattern = "?rass", mu = 0.3, classes = [0, 5], label = 7, surface_type = 9, priority = -2, cone_index = 80 },
            { pattern = "*", mu = 0.4, rr = 4, gain = 2 },
            { pattern = "nothing*" },
            { name = "Concrete", rr = 5 },
        ]"#;
    let mut scene = fixtures::mats();
    let applied = Settings::from_toml(text).unwrap().apply(&mut scene).unwrap();
    let factors = |scene: &Scene| {
        [0, 1, 2].map(|i| {
            [0, 1, 2].map(|k| {
                let m = &scene.materials[i];
                [m.mu, m.rr, m.gain][k]
            })
        })
    };
    // Concrete, Grass, and without a name
    assert_eq!(factors(&scene), [[0.2, 3.0, 2.0], [0.3, 4.0, 2.0], [0.4, 4.0, 2.0]]);
    let idle = ["material 5 (\"nothing*\"): it fits none", "material 6 (\"Concrete\"): an earlier entry takes it"];
    assert_eq!(applied.idle, idle);
    assert!(applied.unlisted.is_empty() && applied.plain_gain.is_empty());
    let grass = &scene.materials[1];
    assert_eq!((grass.class_mask, grass.label, grass.surface), (0b10_0001, 7, 9));
    assert_eq!((grass.priority, grass.cone_index), (-2, 80.0));

    let text = "[[material]]\npattern = \"GR*\"\n[[material]]\npattern = \"G*\"\nmu = 0.1\n\
                [[material]]\nname = \"Grass\"\nmu = 0.2\n[[material]]\nname = \"\"\nmu = 0.3\nrr = 7\n";
    let mut scene = fixtures::mats();
    let idle = Settings::from_toml(text).unwrap().apply(&mut scene).unwrap().idle;
    let all = ["material 1 (\"GR*\"): it fits none", "material 2 (\"G*\"): other entries state all that it states"];
    assert_eq!(idle, all);
    assert_eq!((scene.materials[1].mu, scene.materials[1].rr), (0.2, 1.6), "the one named \"\" adds nothing");
}

#[test]
fn repairs_can_be_set_and_switched_off() {
    let build = |text: &str| Settings::from_toml(text).unwrap().build;
    assert_eq!(build("").stitch, Options::default().stitch);
    let off = build("build.stitch = false\nbuild.undersides = \"ceiling\"\nbuild.max_slope = 60");
    assert_eq!((off.stitch, off.undersides, off.max_slope), (None, Undersides::Ceiling, Some(60.0)));
    let near = build("build.weld = { plan = 2, height = 3 }\nbuild.stitch = { plan = 8, height = 128 }");
    assert_eq!((near.weld, near.stitch), (Near { plan: 2, height: 3 }, Some(Near { plan: 8, height: 128 })));
    let split = build("build.split = { bundle_size = 5 }");
    assert_eq!(split.split, Some(Split { bundle_size: 5, ..Split::DEFAULT }));
    for options in [off, near, split] {
        let settings = Settings { build: options.clone(), ..Settings::default() };
        assert_eq!(build(&settings.to_toml()), options);
        assert_eq!(Settings::from_json(&serde_json::to_string(&settings).unwrap()).unwrap().build, options);
    }
    assert!(error("[build]\nstitch = { plan = 8, hight = 128 }").contains("did you mean \"height\"?"));
}

#[test]
fn unknown_words_have_their_line_and_the_nearest_spelling() {
    for (text, parts) in [
        ("crs = \"a\"\n[[material]]\nnmae = \"x\"\n", &["line 3: ", "\"nmae\"", "did you mean \"name\"?"][..]),
        ("\n[build]\nnaer = 3.0\n", &["line 3: ", "did you mean \"near\"?"]),
        ("[build]\nfallback = \"defalt\"\n", &["line 2: ", "did you mean \"default\"?"]),
        ("materials = 3\n", &["line 1: ", "did you mean \"material\"?"]),
        ("[[material]]\nname = \"x\"\nmu = \"slippery\"\n", &["line 3: ", "slippery", "expected a number"]),
        ("[[material]]\nname = \"x\"\nmu = \n", &["line 3: "]),
        ("[[material]]\nmu = 1.0\n", &["line 1: material 1 (\"\"): give either name or pattern"]),
        ("[[material]]\nname = \"x\"\nclasses = [32]\n", &["line 3: ", "0 to 31"]),
        ("[build]\nxy_log2 = 3\n", &["line 2: build: xy_log2: steps go from"]),
        ("[build]\nnear = 1\ndefault_mu = nan\n", &["line 3: build: default_mu: defaults go from"]),
        ("[build]\nnear = 1\ndefault_rr = -1.0\n", &["line 3: build: default_rr: defaults go from 0"]),
        ("crs = \"\"\nbuild.far = -1\n", &["line 2: build: far: windows"]),
        (
            "[build]\n[build.split]\nbundle_size = 8\nmin_volume = -1\n",
            &["line 4: build: split.min_volume: the tolerance"],
        ),
        ("build.split = {\n depth_tolerance = 65,\n bundle_size = 0 }\n", &["line 2: build: split.depth_tolerance: "]),
        ("[[source]]\nfile = \"a.obj\"\nup = \"w\"\n", &["line 3: ", "x, y, z"]),
        ("[[source]]\nfile = \"a.obj\"\nscale = 0\n", &["line 3: source 1 (\"a.obj\"): scale"]),
        ("[[source]]\nfile = \"a.obj\"\nscale = [1, 0, 1]\n", &["line 3: source 1 (\"a.obj\"): "]),
        ("[[source]]\nfile = \"a.obj\"\nmu = -1\n", &["line 3: source 1 (\"a.obj\"): mu is -1; write"]),
        ("[[source]]\nfile = \"a.obj\"\nname = \"\"\n", &["line 3: source 1 (\"a.obj\"): name is empty"]),
        ("[[source]]\nfile = \"a.obj\"\nroll_deg = 361\n", &["line 3: source 1 (\"a.obj\"): roll_deg must lie"]),
        ("[[source]]\nfile = \"a.obj\"\npitch = 3\n", &["line 3: ", "did you mean \"pitch_deg\"?"]),
        ("[[rule]]\nmu = 0.7\n", &["line 1: rule 1: give an object, a file or a material"]),
        ("[[rule]]\nobject = \"a\"\nclasses = [32]\n", &["line 3: rule 1 (object \"a\"): classes go from 0 to 31"]),
        ("[[material]]\nobject = \"a*\"\n", &["line 2: ", "\"object\" is not known here"]),
        (
            "[[source]]\nfile = \"a.obj\"\nyaw_deg = -360.5\n",
            &["line 3: source 1 (\"a.obj\"): yaw_deg must lie between -360 and 360"],
        ),
        ("[[source]]\nup = \"y\"\n", &["line 1: source 1 (\"\"): name a file"]),
        ("[[source]]\nfile = \"a.obj\"\nyaw = 3.0\n", &["line 3: ", "did you mean \"yaw_deg\"?"]),
        ("[[source]]\nfile = \"a.obj\"\n\ntranslate = [1.0, nan, 2.0]\n", &["line 4: ", "[x, y, z]"]),
        ("patch_tolerance = nan\n", &["patch_tolerance"]),
    ] {
        let why = error(text);
        parts.iter().for_each(|part| assert!(why.contains(part), "no {part:?} in {why}"));
    }
    let why = Settings::from_json("{\n\"build\": {\n\"naer\": 3 } }").unwrap_err().to_string();
    assert!(why.starts_with("line 3, column 6: ") && why.contains("did you mean \"near\"?"), "{why}");

    let text = "[[material]]\nname = \"Grass\"\n\n[[material]]\nmu = 0.2\nname = \"Concerte\"\n";
    let why = Settings::from_toml(text).unwrap().apply(&mut fixtures::mats()).unwrap_err().to_string();
    assert_eq!(
        why,
        "line 6: material \"Concerte\" is not in the scene (did you mean \"Concrete\"?); with optional = true it may be absent"
    );
    let text =
        text.replace("Grass", "Grsas").replace("[[material]]\nmu", "[[material]]\nname = \"Pond\"\n[[material]]\nmu");
    let why = Settings::from_toml(&text).unwrap().apply(&mut fixtures::mats()).unwrap_err().to_string();
    assert_eq!(
        why,
        "line 2: 3 materials are not in the scene: \"Grsas\" (did you mean \"Grass\"?), \"Pond\", \"Concerte\" (did you mean \"Concrete\"?); with optional = true they may be absent"
    );
    let optional = text.replace("name", "optional = true\nname");
    let applied = Settings::from_toml(&optional).unwrap().apply(&mut fixtures::mats()).unwrap();
    assert!(applied.idle.is_empty() && applied.unlisted.len() == fixtures::mats().materials.len(), "{applied:?}");
}

/// Each mistake has its line and its column, from 1, and says what belongs there.
#[test]
fn mistakes_have_their_place() {
    let grass = |rest: &str| format!("[[material]]\nname = \"Grass\"\n{rest}\n");
    let file = |rest: &str| format!("[[source]]\nfile = \"a.obj\"\n{rest}\n");
    let build = |rest: &str| format!("[build]\n{rest}\n");
    let point = "a number has a decimal point";
    let toml = [
        (grass("mu = 0,85"), [3, 7], point),
        (grass("mu = .85"), [3, 6], point),
        (grass("mu: 5"), [3, 5], "expected `=`; a line is KEY = VALUE"),
        (grass("mu = 1\nmu = 2"), [4, 1], "duplicate key"),
        (grass("mu = \"0.85\""), [3, 6], "expected a number"),
        (grass("include = 2"), [3, 11], "expected true, false, 1 or 0"),
        (grass("include = yes"), [3, 11], "text stands in \"...\""),
        (grass("surface_type = 1.5"), [3, 16], "a whole number from 0 to 65535"),
        (grass("classes = 3"), [3, 11], "expected a list"),
        (grass("classes = [\n0,\n300]"), [5, 1], "`300`, expected a whole number from 0 to 255"),
        ("[[material]]\nname = \"Straße\", 2\n".into(), [2, 16], "a line is KEY = VALUE"),
        ("[[source]]\nfile = \"C:\\tracks\\a.obj\"\n".into(), [2, 19], "with / instead of \\"),
        (file("scale = [1, 2]"), [3, 9], "a list of 3 numbers"),
        (file("scale = true"), [3, 9], "a number or a list of 3 numbers"),
        (file("translate = [1, 2, 3, 4]"), [3, 13], "a list of 3 numbers"),
        (file("translate = [\n1,\n2,\n\"3\"]"), [6, 1], "expected a number"),
        (build("origin = [0, 0]"), [2, 10], "a list of 3 numbers"),
        (build("source_error = { rest = [0, 0, 0], side = 1, squares = [] }"), [2, 25], "a list of 2 numbers"),
        (build("weld = 3"), [2, 8], "expected a table"),
        (build("weld = [1, 2]"), [2, 8], "expected a table"),
        (build("weld = { plan = 1, hight = 2 }"), [2, 20], "did you mean \"height\"?"),
        (build("split = [8]"), [2, 9], "expected a table"),
        (build("max_cost = [24]"), [2, 12], "expected a table"),
        (build("source_error = [[0, 0], 1, []]"), [2, 16], "expected a table"),
        (build("stitch = true"), [2, 10], "a table or false"),
        ("build = [3]\n".into(), [1, 9], "expected a table"),
        ("raster = [0.5]\n".into(), [1, 10], "expected a table"),
        ("source = [[\"a.obj\"]]\n".into(), [1, 11], "expected a table"),
        ("[material]\nname = \"a\"\n".into(), [1, 1], "a list of tables: [[source]], [[material]]"),
        ("material = \"Ice\"\n".into(), [1, 12], "a list of tables"),
        ("mu = 3\n".into(), [1, 1], "\"mu\" is not known here; known: crs, "),
    ];
    let json = [
        ("[]", [1, 1], "expected a table"),
        ("{\n\"build\": []}", [2, 9], "expected a table"),
        (r#"{"crs": }"#, [1, 9], "JSON has \"KEY\": VALUE"),
        (r#"{"near": 3}"#, [1, 7], "\"near\" is not known here"),
        ("{\n\"material\": [{\"name\": \"a\",\n\"mu\": \"0.5\"}]}", [3, 11], "expected a number"),
        (r#"{"material": [{"mu": 1, "mu": 2}]}"#, [1, 28], "duplicate field `mu`"),
        (r#"{"material": [["Road"]]}"#, [1, 14], "expected a table"),
        (r#"{"material": {"name": "a"}}"#, [1, 13], "a list of tables"),
        (r#"{"source": [{"translate": [1,2,3,4]}]}"#, [1, 36], "a list of 3 numbers"),
        (r#"{"build": {"weld": [1, 2]}}"#, [1, 19], "expected a table"),
        (r#"{"build": {"stitch": []}}"#, [1, 23], "a table or false"),
    ];
    let toml = toml.map(|(text, place, part)| (Settings::from_toml(&text), text, place, part));
    let json = json.map(|(text, place, part)| (Settings::from_json(text), text.to_string(), place, part));
    for (read, text, [line, column], part) in toml.into_iter().chain(json) {
        let why = read.expect_err(&text);
        assert_eq!((why.line, why.column), (Some(line), Some(column)), "{text}{why}");
        assert!(why.to_string().contains(part), "no {part:?} in {why}");
    }
}

/// Who writes in another language than a file's has no use for its rules.
#[test]
fn the_rules_of_a_language_stand_beside_the_cause() {
    let broken = [Settings::from_json("{\"crs\": }"), Settings::from_toml("crs = \n")].map(Result::unwrap_err);
    for why in &broken {
        let rule = why.rule.unwrap();
        assert!(!why.text.contains(rule) && why.to_string().ends_with(rule), "{why}");
    }
    for why in [Settings::from_json("{\"crs\": 3}"), Settings::from_toml("crs = 3\n")].map(Result::unwrap_err) {
        assert_eq!(why.rule, None, "{why}");
    }
}

#[test]
fn a_source_allows_what_is_of_its_file_only() {
    for code in Code::ALL {
        let text = format!("[[source]]\nfile = \"a.obj\"\nallow = [\"unit\", \"{code}\"]\n");
        match (Settings::from_toml(&text), code.is_of_source()) {
            (Ok(settings), true) => assert_eq!(settings.sources[0].allow, [Code::Unit, code]),
            (Err(why), false) => assert!(why.line == Some(3) && why.text.contains(code.name()), "{why}"),
            (read, _) => panic!("{code}: {:?}", read.map(|settings| settings.sources)),
        }
        assert_eq!(Settings::from_toml(&format!("allow = [\"{code}\"]\n")).unwrap().allow, [code]);
    }
}

#[test]
fn both_languages_say_the_same() {
    let settings = Settings {
        allow: vec![],
        crs: "EPSG:32632".into(),
        patch_tolerance: Some(0.01),
        raster: Some(Raster { cell: 0.3, material: Some("wet".into()), at: PostsAt::Centres }),
        build: Options { fallback: Fallback::EdgeExtend, tile_log2: Some(14), near: 0.1, ..Options::default() },
        sources: vec![SourceFile {
            file: "a \"b\".obj".into(),
            licence: "CC0".into(),
            up: Some(Up::NegX),
            unit: Some(Unit::UsFt),
            yaw_deg: Some(-30.0),
            scale: Some(Scale::Each([2.5, 1.0, 0.5])),
            translate: Some([1.0, -2.0, 3.5]),
            name: Some("north".into()),
            pitch_deg: Some(2.0),
            material: Some("Ice".into()),
            mu: Some(0.1),
            include: Some(true),
            ..SourceFile::default()
        }],
        rules: vec![PartRule {
            object: Some("UCX_*".into()),
            file: Some("a.obj".into()),
            obstacle: Some(true),
            classes: Some(vec![3]),
            ..PartRule::default()
        }],
        materials: vec![MaterialRule::from(&Material::new("wet\nleaf\\*", 0.123_456_789_012_345_68))],
        ..Settings::default()
    };
    let toml = settings.to_toml();
    let json = serde_json::to_string(&settings).unwrap();
    assert_eq!(Settings::from_toml(&toml).unwrap().to_toml(), toml);
    assert_eq!(Settings::from_json(&json).unwrap().to_toml(), toml);
    assert_eq!(Settings::from_toml("").unwrap().to_toml(), Settings::default().to_toml());
    assert_eq!(Settings::from_json("{}").unwrap().build, Options::default());
}

#[test]
fn patterns() {
    let fits = |p: &str, n: &str| fits_letters(&p.chars().collect::<Vec<_>>(), &n.chars().collect::<Vec<_>>());
    for (pattern, name) in [
        ("", ""),
        ("*", ""),
        ("a*", "a"),
        ("*b*", "abc"),
        ("a?c", "abc"),
        ("*aab", "aaaab"),
        ("a*b*c", "axbxbxc"),
        ("ü?", "üß"),
    ] {
        assert!(fits(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in [("", "a"), ("?", ""), ("a", "A"), ("a*b", "abc"), ("*aab", "aaaba"), ("??", "a")] {
        assert!(!fits(pattern, name), "{pattern} {name}");
    }
    // no blow-up
    assert!(!fits(&"*a".repeat(30), &"a".repeat(29)) && !fits(&"*a".repeat(2000), &("a".repeat(1999) + "b")));
}
