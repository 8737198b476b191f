use kubebench_format::result::BenchmarkResult;
use std::sync::Barrier;

use super::{keep, keeps};
use kubebench_format::result::seal;

fn result() -> BenchmarkResult {
    serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../format/testdata/result.json"))).unwrap()
}

#[test]
fn of_many_at_once_one_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let candidates: Vec<_> = (0..8_u32)
        .map(|restarts| {
            let mut made = result();
            made.run.restarts = restarts;
            seal(made)
        })
        .collect();
    // What a process that was killed left is not in the way.
    let place = folder.path().join("matmul/size-256-0a1b2c3d");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join(format!(".{}.tmp", candidates[0].result.run.id)), "{").unwrap();
    let barrier = Barrier::new(candidates.len());
    let kept: Vec<bool> = std::thread::scope(|scope| {
        let writers: Vec<_> = candidates
            .iter()
            .map(|sealed| {
                scope.spawn(|| {
                    barrier.wait();
                    keep(folder.path(), sealed).is_ok()
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let there: Vec<bool> = candidates.iter().map(|sealed| keeps(folder.path(), sealed)).collect();
    assert_eq!(kept.iter().filter(|kept| **kept).count(), 1);
    assert_eq!(kept, there, "the one that was told so is there");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2, "nothing unfinished of ours stays");
}
