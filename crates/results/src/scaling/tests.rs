//! Numbers and names, without results.

use super::cost::is_of_each;
use super::group::is_count;
use super::model::{Direction, Estimate};
use super::ratio::{efficiency, speedup};
use super::render::{percent, times};

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, interval: Some((low, high)) }
}

#[test]
fn a_speedup_is_above_one_where_it_is_better() {
    let ratio = estimate(0.5, 0.4, 0.8);
    assert_eq!(speedup(ratio, Direction::Higher), Some(ratio));
    assert_eq!(speedup(ratio, Direction::Lower), Some(estimate(2.0, 1.25, 2.5)));
    assert_eq!(speedup(ratio, Direction::None), None);
    assert_eq!(speedup(Estimate { value: 1e-320, interval: None }, Direction::Lower), None, "its inverse is no number");
    assert_eq!(efficiency(estimate(3.0, 2.0, 4.0), 4.0), Some(estimate(0.75, 0.5, 1.0)));
}

#[test]
fn axes_that_count_machines_are_recognized_by_their_names() {
    for name in ["replicas", "numWorkers", "gpusPerNode", "worker_count", "nodes", "gpu-count", "Threads", "processes"]
    {
        assert!(is_count(name), "{name}");
    }
    for name in ["batchSize", "batchSizePerGpu", "block", "words", "", "nodeType", "per", "precision"] {
        assert!(!is_count(name), "{name}");
    }
}

#[test]
fn metrics_of_each_machine_are_recognized_by_their_units() {
    for unit in ["tokens/s/gpu", "TFLOP/s/GPU", "tokens/gpu/s", "images/s/device", "tokens/s/nodes"] {
        assert!(is_of_each("throughput", Some(unit)), "{unit}");
    }
    for unit in ["tokens/s", "gpu", "ms", "GB/s"] {
        assert!(!is_of_each("throughput", Some(unit)), "{unit}");
    }
    assert!(!is_of_each("throughput", None));
    for name in ["tokens-per-gpu", "imagesPerDevice", "tflops_per_node"] {
        assert!(is_of_each(name, Some("tokens/s")), "{name}");
    }
    assert!(!is_of_each("percent-busy", Some("tokens/s")));
}

#[test]
fn no_more_digits_than_the_interval_supports() {
    assert_eq!(times(estimate(1.93456, 1.9, 1.97)), "1.93 × [1.90, 1.97]");
    assert_eq!(times(estimate(1.93456, 1.93, 1.94)), "1.935 × [1.930, 1.940]");
    assert_eq!(times(estimate(6.9, 6.0, 8.0)), "6.9 × [6.0, 8.0]");
    assert_eq!(times(Estimate { value: 0.00123, interval: None }), "0.00123 ×");
    assert_eq!(percent(estimate(0.9512, 0.93, 0.97)), "95 % [93, 97]");
}
