//! `compare --by`: numbers that were computed by hand, and what must not be compared.

use std::collections::BTreeMap;

use kubebench_format::result::v1::{BenchmarkResult, Cost, Direction, Kind, Usage};
use kubebench_testing::snapshot::{assert_line, str};
use serde_json::{Value as Json, json};

use super::{Project, SPEC, Special};

/// Records a session of a case for each value, with what `change` makes of each run.
fn record(project: &mut Project, params: &Json, values: &[f64], change: impl Fn(&mut BenchmarkResult)) {
    let params: BTreeMap<String, Json> = serde_json::from_value(params.clone()).unwrap();
    let name: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}").replace('"', "")).collect();
    let case: String = name.join("-").chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    for value in values {
        project.sessions += 1;
        let mut made = project.run(*value, 1, &Special::default());
        made.run.id = format!("{:032x}", 7 + project.sessions);
        (made.metadata.params, made.metadata.case) = (params.clone(), format!("{}-00000000", case.to_lowercase()));
        made.metadata.case_name = name.join(", ");
        change(&mut made);
        project.put(made);
    }
}

/// What a run holds for half an hour that waited for a while before: GPUs at 2 EUR an hour where there are prices.
fn held(gpus: u32, currency: Option<&str>) -> impl Fn(&mut BenchmarkResult) {
    move |made| {
        let (amount, hours) = (f64::from(gpus), f64::from(gpus) / 2.0);
        let gpu = || "nvidia.com/gpu".to_owned();
        made.run.duration_seconds = 3600.0;
        made.usage = Some(Usage {
            pods: gpus,
            nodes: gpus,
            accelerators: [(gpu(), u64::from(gpus))].into(),
            resources: [(gpu(), amount)].into(),
            resource_hours: [(gpu(), hours)].into(),
            gpu_hours: Some(hours),
            ..Usage::default()
        });
        let node = made.environment.nodes[0].clone();
        made.environment.nodes = (0..gpus).map(|_| node.clone()).collect();
        made.cost = currency.map(|currency| Cost {
            currency: currency.to_owned(),
            amount,
            gpu_hours: hours,
            price_source: "x".to_owned(),
        });
    }
}

fn near(value: &Json, wanted: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((found / wanted - 1.0).abs() < 1e-9, "{found} is not {wanted}");
}

fn by(project: &Project, arguments: &[&str]) -> Json {
    let all: Vec<&str> = ["compare", "--by"].into_iter().chain(arguments.iter().copied()).collect();
    let (status, answer) = project.json(&all);
    assert!(status < 2, "{answer:#}");
    let validator = jsonschema::draft7::new(&kubebench_results::scaling::v1::schema()).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
    assert_eq!(wrong, Vec::<String>::new(), "{answer:#}");
    answer
}

fn notes(value: &Json) -> String {
    let notes = value["notes"].as_array().map(Vec::as_slice).unwrap_or_default();
    notes.iter().map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn speedup_efficiency_and_cost_by_hand() {
    let mut project = Project::with(SPEC);
    record(&mut project, &json!({"replicas": 1}), &[102.0, 100.0, 103.0, 101.0], held(1, Some("EUR")));
    record(&mut project, &json!({"replicas": 2}), &[184.0, 180.0, 186.0, 182.0], held(2, Some("EUR")));
    record(&mut project, &json!({"replicas": 4}), &[300.0, 300.0], held(4, Some("EUR")));
    let answer = by(&project, &["replicas"]);
    let group = &answer["groups"][0];
    assert_eq!((group["base"].as_str(), group["numeric"].as_bool()), (Some("1"), Some(true)));
    assert_eq!(group["environment"]["cpu"], "1 × synthetic", "machines are not counted on an axis of numbers");
    let rows = group["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!((rows[0]["ratio"].is_null(), rows[0]["median"].as_f64()), (true, Some(101.5)));
    // Of the 16 ratios the two in the middle are 182/101 and 184/102, and their geometric mean is what is between them; four against
    // four sessions leave no pair outside of the interval.
    let two = &rows[1];
    assert_eq!(two["environment"]["cpu"], "2 nodes of 1 × synthetic");
    assert_eq!(two["method"], "mannWhitneyExact");
    near(&two["speedup"]["value"], hodges_lehmann(&[100.0, 101.0, 102.0, 103.0], &[180.0, 182.0, 184.0, 186.0]));
    near(&two["speedup"]["interval"][0], 180.0 / 103.0);
    near(&two["speedup"]["interval"][1], 186.0 / 100.0);
    near(&two["efficiency"]["interval"][1], 0.93);
    // 2 EUR an hour and 101.5 images a second: the wait for the machine costs nothing.
    near(&rows[0]["cost"]["amount"], cost(2.0, &[100.0, 101.0, 102.0, 103.0]));
    near(&two["cost"]["amount"], cost(4.0, &[180.0, 182.0, 184.0, 186.0]));
    assert_eq!(
        (&two["cost"]["currency"], &two["cost"]["of"], &two["cost"]["per"]),
        (&json!("EUR"), &json!("images"), &json!(1e6))
    );
    // Two sessions have a ratio and no interval.
    let four = &rows[2];
    assert!(
        four["speedup"]["interval"].is_null() && four["interval"].is_null() && four["speedup"]["value"].is_number()
    );
    assert_line(notes(four), str! {"fewer than 3 sessions: no interval"});
    // People see the same.
    let (status, text, _) = project.says(&["compare", "--by", "replicas"]);
    assert_eq!(status, 0);
    assert_eq!(
        text,
        "\
train speed, higher is better
  on cpu 1 × synthetic, engine process, target default
  REPLICAS  SESSIONS  MEDIAN                         SPEED-UP             EFFICIENCY     COST
  1         4         101.5 images/s [99.46, 103.6]  base                 –              5.474 EUR for 10⁶ images
  2         4         183 images/s [178.9, 187.1]    1.80 × [1.75, 1.86]  90 % [87, 93]  6.072 EUR for 10⁶ images
  4         2         300 images/s                   2.96 ×               74 %           7.407 EUR for 10⁶ images
  replicas=4: fewer than 3 sessions: no interval

"
    );
}

/// The median of all ratios, between the two in the middle on the logarithmic scale.
fn hodges_lehmann(base: &[f64], values: &[f64]) -> f64 {
    let mut ratios: Vec<f64> = base.iter().flat_map(|base| values.iter().map(move |value| value / base)).collect();
    ratios.sort_by(f64::total_cmp);
    (ratios[ratios.len() / 2 - 1] * ratios[ratios.len() / 2]).sqrt()
}

/// The median cost of a million units, at so much an hour.
fn cost(hourly: f64, rates: &[f64]) -> f64 {
    let cost = |rate: f64| 1e6 * hourly / (3600.0 * rate);
    f64::midpoint(cost(rates[1]), cost(rates[2]))
}

#[test]
fn currencies_and_prices_are_never_mixed() {
    let mut project = Project::with(SPEC);
    record(&mut project, &json!({"replicas": 1}), &[100.0, 100.0], held(1, Some("EUR")));
    record(&mut project, &json!({"replicas": 2}), &[200.0], held(2, Some("EUR")));
    record(&mut project, &json!({"replicas": 2}), &[200.0], held(2, Some("USD")));
    record(&mut project, &json!({"replicas": 4}), &[400.0, 400.0], held(4, Some("USD")));
    record(&mut project, &json!({"replicas": 8}), &[800.0], held(8, None));
    let answer = by(&project, &["replicas"]);
    let group = &answer["groups"][0];
    let rows = group["rows"].as_array().unwrap();
    assert!(rows[1]["cost"].is_null());
    assert_line(notes(&rows[1]), str! {"no cost: its runs are priced in EUR and USD"});
    assert_eq!(rows[3]["cost"]["currency"], "GPU-hours");
    // 8 GPUs, 800 images a second: a GPU-hour makes 360,000 images.
    near(&rows[3]["cost"]["amount"], 1e6 / 360_000.0);
    assert_line(notes(group), str! {"costs are in EUR and GPU-hours and USD, and cannot be compared"});
}

#[test]
fn other_hardware_and_other_units_are_apart() {
    let mut project = Project::with(SPEC);
    let on = |cpu: &'static str| {
        move |made: &mut BenchmarkResult| made.environment.nodes[0].cpu_model = Some(cpu.to_owned())
    };
    record(&mut project, &json!({"variant": "torch"}), &[100.0; 4], on("old"));
    record(&mut project, &json!({"variant": "jax"}), &[120.0; 4], on("new"));
    let answer = by(&project, &["variant"]);
    assert_eq!(answer["groups"], json!([]));
    assert_line(
        notes(&answer),
        str! {"`speed` of train is not compared by variant: cpu is 1 × new and 1 × old (--allow cpu compares them anyway)"},
    );
    assert_eq!(project.says(&["compare", "--by", "variant"]).0, 1);
    let allowed = by(&project, &["variant", "--allow", "cpu", "--base", "torch"]);
    let rows = &allowed["groups"][0]["rows"];
    assert_eq!((&rows[0]["value"], &rows[1]["value"]), (&json!("torch"), &json!("jax")));
    near(&rows[1]["speedup"]["value"], 1.2);
    assert!(rows[1]["efficiency"].is_null());
    assert_line(notes(&rows[1]), str! {"on cpu 1 × new"});
    // The same along the fact itself.
    record(&mut project, &json!({"variant": "jax"}), &[60.0; 4], on("old"));
    let answer = by(&project, &["cpu"]);
    let group = &answer["groups"][0];
    assert_eq!((&group["params"], &group["base"]), (&json!({"variant": "jax"}), &json!("1 × new")));
    near(&group["rows"][1]["speedup"]["value"], 0.5);
    assert_line(notes(&answer), str! {"train [variant=torch] has results only for cpu=1 × old"});
    // A unit that differs cannot be allowed.
    let other = |made: &mut BenchmarkResult| {
        on("old")(made);
        made.metrics[0].unit = Some("tokens/s".to_owned());
    };
    record(&mut project, &json!({"variant": "mxnet"}), &[100.0; 4], other);
    let answer = by(&project, &["variant", "--allow", "cpu"]);
    let said = notes(&answer["groups"][0]);
    assert_line(&said, str! {"variant=mxnet is not compared: unit is images/s and tokens/s"});
    assert!(!said.contains("--allow unit"), "{said}");
}

#[test]
fn what_has_no_ratio_says_so() {
    let mut project = Project::with(SPEC);
    record(&mut project, &json!({"replicas": 1, "size": 1}), &[0.0, -1.0, 2.0], |_| {});
    record(&mut project, &json!({"replicas": 2, "size": 1}), &[1.0, 2.0, 3.0], |_| {});
    record(&mut project, &json!({"replicas": 1, "size": 2}), &[1e-308; 3], |_| {});
    record(&mut project, &json!({"replicas": 2, "size": 2}), &[1e308; 3], |_| {});
    record(&mut project, &json!({"replicas": 0, "size": 3}), &[1.0; 4], |_| {});
    record(&mut project, &json!({"replicas": 4, "size": 3}), &[4.0; 4], |_| {});
    record(&mut project, &json!({"replicas": 1, "size": 4}), &[1.0; 4], |_| {});
    let answer = by(&project, &["replicas"]);
    let groups = answer["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 3, "{answer:#}");
    for (group, words) in groups.iter().zip(["not all values are above 0", "too far apart"]) {
        assert!(group["rows"][1]["speedup"].is_null() && group["rows"][1]["efficiency"].is_null());
        assert!(notes(&group["rows"][1]).contains(words), "{}", notes(&group["rows"][1]));
        assert_line(notes(group), str! {"there is no result of replicas=4"});
    }
    near(&groups[2]["rows"][1]["speedup"]["value"], 4.0);
    assert_line(notes(&groups[2]["rows"][1]), str! {"no efficiency: the axis is not above 0"});
    assert_line(notes(&answer), str! {"train [size=4] has results only for replicas=1"});
    let base = by(&project, &["replicas", "--base", "4"]);
    assert_line(
        notes(&base["groups"][0]),
        str! {"there is no result of replicas=4 here, so there is nothing to compare the others with"},
    );
    near(&base["groups"][2]["rows"][0]["ratio"]["value"], 0.25);
    for (arguments, words) in [
        (["--by", "gpus"].as_slice(), "the axes along which results differ are replicas, size"),
        (&["--by", "gpu"], "the axes along which results differ are replicas, size"),
        (&["--by", "replicas", "--base", "3"], "results have 0, 1, 2, 4"),
        (&["--by", "replicas", "--metric", "sped"], "no result has the metric `sped`"),
        (&["--by", "replicas", "--pareto", "speed"], "does not name two metrics"),
        (&["--by", "replicas", "--pareto", "speed,loss"], "no benchmark has two cases"),
        (&["--by", "replicas", "a", "b"], "cannot be used with"),
        (&["a"], "required"),
    ] {
        let (status, _, error) = project.says(&[&["compare"], arguments].concat());
        assert!(status == 2 && error.contains(words), "{arguments:?}: {status} {error}");
    }
}

#[test]
fn only_the_level_that_is_there_now_counts() {
    let mut project = Project::with(SPEC);
    let noise = [0.1, -0.1, 0.2, -0.2, 0.0, 0.1, -0.1, 0.0];
    record(&mut project, &json!({"replicas": 1}), &noise.map(|noise| 50.0 + noise), |_| {});
    record(&mut project, &json!({"replicas": 1}), &noise.map(|noise| 100.0 + noise), |_| {});
    // The first session of a case fills caches.
    record(&mut project, &json!({"replicas": 2}), &[120.0], |_| {});
    record(&mut project, &json!({"replicas": 2}), &noise.map(|noise| 200.0 + noise), |_| {});
    let answer = by(&project, &["replicas"]);
    let rows = &answer["groups"][0]["rows"];
    assert_eq!((rows[0]["sessions"].as_u64(), rows[1]["sessions"].as_u64()), (Some(8), Some(8)));
    let speedup = rows[1]["speedup"]["value"].as_f64().unwrap();
    assert!((speedup - 2.0).abs() < 0.01, "{speedup}");
}

#[test]
fn a_front_needs_more_than_noise() {
    let mut project = Project::with(SPEC);
    let with = |latency: f64| {
        move |made: &mut BenchmarkResult| {
            let mut more = made.metrics[0].clone();
            let noise = made.metrics[0].value.unwrap() % 1.0;
            (more.name, more.unit) = ("latency".to_owned(), Some("ms".to_owned()));
            (more.direction, more.kind, more.value) = (Direction::Lower, Kind::Primary, Some(latency + noise));
            made.metrics.push(more);
        }
    };
    let noisy = |value: f64| [value + 0.1, value + 0.2, value + 0.3, value + 0.4];
    record(&mut project, &json!({"batch": 1}), &noisy(100.0), with(10.0));
    record(&mut project, &json!({"batch": 2}), &noisy(200.0), with(20.0));
    // Worse than batch=2 in both; by far, and by less than the noise.
    record(&mut project, &json!({"batch": 3}), &noisy(150.0), with(30.0));
    record(&mut project, &json!({"batch": 4}), &noisy(199.9), with(20.1));
    // So few sessions are never dominated beyond the noise.
    record(&mut project, &json!({"batch": 5}), &[50.0], with(90.0));
    let answer = by(&project, &["batch"]);
    let front = &answer["fronts"][0];
    assert_eq!((&front["metrics"][0]["name"], &front["metrics"][1]["name"]), (&json!("latency"), &json!("speed")));
    let points = front["points"].as_array().unwrap();
    let of = |name: &str| points.iter().find(|point| point["caseName"] == name).unwrap();
    let by = |name: &str, list: &str| -> Vec<String> {
        serde_json::from_value(of(name).get(list).cloned().unwrap_or_else(|| json!([]))).unwrap()
    };
    for name in ["batch=1", "batch=2"] {
        assert!(by(name, "dominatedBy").is_empty() && by(name, "perhapsBy").is_empty(), "{front:#}");
    }
    assert_eq!(by("batch=3", "dominatedBy"), ["batch-2-00000000", "batch-4-00000000"]);
    assert!(by("batch=4", "dominatedBy").is_empty());
    assert_eq!(by("batch=4", "perhapsBy"), ["batch-2-00000000"]);
    assert!(by("batch=5", "dominatedBy").is_empty() && by("batch=5", "perhapsBy").len() == 4, "{front:#}");
    assert_eq!(points.last().unwrap()["caseName"], "batch=3", "what is dominated comes last");
}

#[test]
fn hostile_names_are_text() {
    let mut project = Project::with(SPEC);
    record(&mut project, &json!({"variant": "a|<b>@x"}), &[100.0; 4], |_| {});
    record(&mut project, &json!({"variant": "\u{1b}[31m\u{202e}z\n## x"}), &[120.0; 4], |_| {});
    let (status, text, error) = project.says(&["compare", "--by", "variant", "--markdown", "by.md"]);
    assert_eq!(status, 0, "{error}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("a|<b>@x"), "{text}");
    let comment = std::fs::read_to_string(project.folder.path().join("by.md")).unwrap();
    assert!(comment.starts_with("<!-- kubebench compare by variant . p -->\n### Kubebench by variant\n"), "{comment}");
    assert_line(
        &comment,
        str! {[r#"- speed of **train**: variant=�\[31m�z &#35;&#35; x has the best median; next is variant=a\|&lt;b&gt;&#64;x, 0.833 × [0.833, 0.833]."#]},
    );
    assert!(!comment.contains(['\u{1b}', '\u{202e}', '@']) && !comment.contains("<b>"), "{comment}");
    assert!(comment.lines().all(|line| !line.starts_with("##") || line.starts_with("### Kubebench")), "{comment}");
}
