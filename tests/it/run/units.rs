//! What a benchmark prints in one unit in one run, and in another in the next.

use kubebench_testing::snapshot::{assert_text, str};

use super::{LOSS, job, run};

#[test]
fn the_table_has_a_row_for_each_dimension() {
    let script = r#"case $(ls "$KUBEBENCH_EXP_ROOT" | wc -l) in
        1) unit=us; value=1500;;
        2) unit=ms; value=2.5;;
        *) unit=MB; value=7;;
        esac
        echo '[{"name": "wait", "unit": "'$unit'", "value": '$value'}]'"#;
    let metrics = "metrics: [{better: lower, from: {tool: {name: github-action-custom}}}]";
    let folder = job(script, &[metrics, "repeats: 3"]);
    let ran = run(&folder, &[]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    assert_text(
        &ran.stdout,
        str! {[r#"
CASE     METRIC  N  MEDIAN   SPREAD  MIN … MAX
default  wait    2  2000 us  50.0 %  1500 … 2500
default  wait    1  7 MB     -

"#]},
    );
}

#[test]
fn what_did_not_count_is_said_once_below_the_table() {
    let report = r#"{"jobs": [{"jobname": "a", "read": {"total_ios": 9, "iops": 100, "bw_bytes": 5000}}]}"#;
    let metrics = [
        "{primary: true, better: higher, from: {tool: {name: fio, metrics: [read_iops]}}}",
        "{from: {tool: {name: fio, metrics: [read_bw_bytes]}}}",
        "{name: loss, unit: '1', better: lower, from: {log: {pattern: 'loss=(?P<value>\\S+)'}}}",
    ];
    let script = format!("echo '{report}'; echo '{report}'; printf loss=0.5");
    let folder = job(&script, &[&format!("metrics: [{}]", metrics.join(", ")), "repeats: 2"]);
    let ran = run(&folder, &[]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    assert_text(
        &ran.stdout,
        str! {[r#"
CASE     METRIC                N  MEDIAN    SPREAD  MIN … MAX
default  read_iops{job=a}      2  100 iops  0.0 %   100 … 100
default  read_bw_bytes{job=a}  2  5000 B/s  0.0 %   5000 … 5000
default  loss                  2  0.5       0.0 %   0.5 … 0.5
note: read_iops and 1 more metric: 2 reports: the last counts, as `report` says
note: loss: the log ends in line 3, whose value may be truncated

"#]},
    );
}

/// What a spec says reaches no terminal as an order to it.
#[test]
fn what_a_terminal_obeys_is_shown_as_no_letter() {
    let folder = job("echo loss 2.5", &[LOSS, r#"matrix: {axes: {a: ["\u001b[31mx\u0007"]}}"#]);
    for arguments in [&[][..], &["-v"], &["--dry-run"]] {
        let ran = run(&folder, arguments);
        assert_eq!(ran.code(), 0, "{}", ran.stderr);
        let shown = ran.stdout + &ran.stderr;
        assert!(shown.contains("a=\u{fffd}[31mx\u{fffd}"), "{shown}");
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    }
}
