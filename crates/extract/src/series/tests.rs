use super::{CHUNK, FEW, Reduced, Room, Sample, Series, Window};
use kubebench_format::spec::v1::metric::Reduce;
use kubebench_syntax::unit::MetricUnit;
use kubebench_testing::snapshot::{assert_text, str};

fn series(window: Window, count: u64) -> Series {
    let mut series = Series::new(window);
    (0..count).for_each(|number| series.push(Sample { line: Some(number + 1), ..Sample::of(number as f64) }));
    series
}

#[test]
fn chunks_are_one_series() {
    let count = CHUNK * 2 + 3;
    let series = series(Window::All, count as u64);
    assert_eq!((series.count(), series.chunks.len(), series.tail.len()), (count, 2, 3));
    assert!(series.values().eq((0_u32..).take(count).map(f64::from)));
    for index in [0, CHUNK - 1, CHUNK, CHUNK * 2, count - 1] {
        assert_eq!(series.value(index), Some(index as f64));
    }
    assert_eq!((series.value(count), series.last()), (None, Some((count - 1) as f64)));
    let median = series.reduce(Reduce::Median);
    assert_eq!((median.value, median.n), (Some((count - 1) as f64 / 2.0), count as u64));
    assert_eq!(series.reduce(Reduce::Max).line, Some(count as u64));
}

#[test]
fn what_is_outside_the_window_is_not_kept() {
    let last = series(Window::LastN(3), 10_000);
    assert_eq!((last.latest.len(), last.tail.capacity()), (3, 0));
    assert_eq!(last.values().collect::<Vec<_>>(), [9997.0, 9998.0, 9999.0]);
    assert_eq!((last.value(1), last.count()), (Some(9998.0), 3));
    let line = |how| last.reduce(how).line;
    assert_eq!([line(Reduce::First), line(Reduce::Min), line(Reduce::Max)], [Some(9998), Some(9998), Some(10_000)]);
    assert_eq!(series(Window::SkipFirst(9_999), 10_000).tail, [9999.0]);
    assert_eq!(series(Window::Steps(1, 2), 10_000).count(), 0);
}

const NO_MEMORY: [Reduce; 6] = [Reduce::First, Reduce::Last, Reduce::Min, Reduce::Max, Reduce::Mean, Reduce::Sum];

/// Values that go up and down, and whose sum is not exact.
fn waves(count: u64) -> impl Iterator<Item = Sample> {
    (0..count).map(|at| Sample { line: Some(at + 1), ..Sample::of(1.1 + ((at * 7919) % 1009) as f64 / 10.0) })
}

fn filled(series: Series, count: u64) -> Series {
    waves(count).fold(series, |mut series, sample| {
        series.push(sample);
        series
    })
}

#[test]
fn what_needs_no_memory_is_exact_however_many_values_there_are() {
    for window in [Window::All, Window::SkipFirst(100)] {
        let kept = filled(Series::new(window), 20_000);
        let series = filled(Series::new(window).within(&Room::of(5_000)), 20_000);
        assert!(series.is_let_go() && !kept.is_let_go());
        assert_eq!((series.chunks.len(), series.tail.capacity(), series.values().count()), (0, 0, 0));
        assert_eq!((series.count(), series.last()), (kept.count(), kept.last()));
        for how in NO_MEMORY {
            let [found, exact] = [&series, &kept].map(|series| series.reduce(how));
            assert_eq!(Reduced { reason: None, ..found }, exact, "{how:?}");
        }
    }
    let series = filled(Series::new(Window::All).within(&Room::of(5_000)), 20_000);
    assert_text(
        series.reduce(Reduce::Mean).reason.unwrap(),
        str! {"none of 20,000 values is kept: at most 5,000 are kept for all logs of a run, or for a file, so there are no samples and no quantiles"},
    );
    for how in [Reduce::Median, Reduce::All, "p99".parse().unwrap()] {
        let Reduced { value, n, reason, .. } = series.reduce(how);
        assert_eq!((value, n), (None, 20_000));
        assert_text(
            reason.unwrap(),
            str! {"none of 20,000 values is kept: at most 5,000 are kept for all logs of a run, or for a file; choose fewer by `role`, `index` or `window`, or reduce them by `first`, `last`, `min`, `max`, `mean` or `sum`, which keep none"},
        );
    }
    let seconds = MetricUnit::of("s").conversion_to(&MetricUnit::of("ms")).unwrap();
    let converted = series.converted(seconds);
    let exact = filled(Series::new(Window::All), 20_000).converted(seconds);
    for how in [Reduce::First, Reduce::Last, Reduce::Min, Reduce::Max] {
        assert_eq!(converted.reduce(how).value, exact.reduce(how).value, "{how:?}");
    }
    let [mean, exact] = [&converted, &exact].map(|series| series.reduce(Reduce::Mean).value.unwrap());
    assert!((mean - exact).abs() < 1e-9, "{mean} {exact}");
}

#[test]
fn which_values_are_kept_does_not_depend_on_the_order_of_reading() {
    let counts = [4_000, 3_000, FEW];
    let read = |turns: &[u64]| {
        let room = Room::of(6_000);
        let mut all = counts.map(|count| (Series::new(Window::All).within(&room), waves(count)));
        while all.iter_mut().zip(turns).fold(false, |is_read, ((series, rest), turn)| {
            let taken: Vec<Sample> = rest.take(usize::try_from(*turn).unwrap()).collect();
            for sample in &taken {
                series.push(*sample);
            }
            is_read || !taken.is_empty()
        }) {}
        all.map(|(mut series, _)| {
            series.settle();
            (series.is_let_go(), format!("{:?}", [Reduce::Mean, Reduce::Median].map(|how| series.reduce(how))))
        })
    };
    let first = read(&[5_000, 5_000, 5_000]);
    assert_eq!(first.each_ref().map(|(is_let_go, _)| *is_let_go), [true, true, false]);
    for turns in [[1, 1, 1], [1, 5_000, 7], [5_000, 1, 1], [13, 900, 5_000]] {
        assert_eq!(read(&turns), first, "{turns:?}");
    }
}

#[test]
fn a_window_of_more_than_is_kept_has_no_value() {
    let large = filled(Series::new(Window::LastN(10_000)).within(&Room::of(6_000)), 20_000);
    assert_eq!((large.count(), large.latest.capacity()), (10_000, 0));
    for how in NO_MEMORY {
        let Reduced { value, n, reason, .. } = large.reduce(how);
        // No value counts, so that `finite: true` does not pass.
        assert_eq!((value, n), (None, 0));
        assert_text(
            reason.unwrap(),
            str! {"none of 10,000 values is kept: at most 6,000 are kept for all logs of a run, or for a file; choose fewer by `role`, `index` or `window`"},
        );
    }
    let small = filled(Series::new(Window::LastN(1_000)).within(&Room::of(6_000)), 20_000);
    assert_eq!((small.is_let_go(), small.count()), (false, 1_000));
    let steady = filled(Series::new(Window::All).within(&Room::of(6_000)), 20_000).steady();
    assert_eq!((steady.count(), steady.reduce(Reduce::Median).value), (19_990, None));
}

#[test]
fn values_that_are_not_finite_are_counted_beyond_what_is_kept() {
    let mut series = filled(Series::new(Window::All).within(&Room::of(5_000)), 6_000);
    series.push(Sample::of(f64::NAN));
    let Reduced { value, n, non_finite, reason, .. } = series.reduce(Reduce::Mean);
    assert_eq!((value, n, non_finite), (None, 6_001, 1));
    assert_text(reason.unwrap(), str! {"1 of 6001 values are not finite, such as nan"});
    series.push(Sample::of(2.0));
    assert_eq!(series.reduce(Reduce::Last).value, Some(2.0));
    // A lower rank begins again, with what is left of the room.
    let mut series = Series::new(Window::All).within(&Room::of(5_000));
    waves(6_000).for_each(|sample| series.push(Sample { rank: Some(1), ..sample }));
    series.push(Sample { rank: Some(0), ..Sample::of(3.0) });
    assert_eq!((series.is_let_go(), series.reduce(Reduce::Median).value, series.count()), (false, Some(3.0), 1));
}
