//! Reading logs and results without running anything: rules, `parse`, fixtures, `validate results`.

use kubebench::ingest::rules::Rules;

use crate::project::{mixed, objects};

#[test]
fn rules_are_the_text_in_the_config_map() {
    let compilation = mixed();
    let mut metrics = 0;
    for compiled in &compilation.benchmarks {
        let benchmark = &compiled.benchmark;
        let text = compilation.rules(compiled).unwrap();
        let path = format!("{}/{}/rules.yaml", benchmark.target.name, benchmark.name);
        let emitted = objects(compilation).into_iter().find(|emitted| emitted.path == path).unwrap();
        assert_eq!(emitted.object["data"]["rules.json"], text);
        metrics += Rules::read(&text).unwrap().metrics.len();
    }
    assert!(metrics > 10, "{metrics}");
}
