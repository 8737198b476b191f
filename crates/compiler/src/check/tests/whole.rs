//! KB0311, KB0405, KB0406, KB0411, KB0412, KB0416: what a benchmark is as a whole.

use super::*;

const SMALL: &str = "resources: {cpu: 1, memory: 1Gi}";

#[test]
fn budgets() {
    let gpus = workload("job", "parallelism: 2, resources: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 2}");
    let of = |repeats: &str, budget: &str| format!("{gpus}\nrepeats: {repeats}\ntimeout: 20m\nbudget: {{{budget}}}");
    check(&of("9", "gpuHours: 12"), &[]);
    check(
        &of("10", "gpuHours: 12"),
        &[("KB0311", str! {"on `default` the runs could use 13.33 GPU-hours, and the budget is 12"})],
    );
    check(
        &of("9\nwarmups: 1", "gpuHours: 12.5"),
        &[("KB0311", str! {"on `default` the runs could use 13.33 GPU-hours, and the budget is 12.5"})],
    );
    check(
        &of("1", "cost: 5"),
        &[("KB0311", str! {"the target `default` has no prices, so this cost limit cannot be checked"})],
    );
    let target = "{t: {prices: {currency: EUR, nvidia.com/gpu: 2, memory: 0.5}}}";
    check_on(target, &of("3", "cost: 9"), &[]);
    check_on(
        target,
        &of("3", "cost: 8.9"),
        &[("KB0311", str! {"on `t` the runs could cost 9 EUR, and the budget is 8.9"})],
    );
}

#[test]
fn arithmetic_of_budgets() {
    let note = |fields: &str| {
        let fields = format!("{fields}\nrepeats: 5\ntimeout: 2h\nbudget: {{gpuHours: 1}}");
        let found = compile("", &document(&fields)).findings();
        assert_eq!(found.first().unwrap().code, &code::KB0311);
        found.first().unwrap().notes.first().unwrap().clone()
    };
    let job = |parallelism: &str| {
        workload(
            "job",
            &format!(
                "args: ['${{{{ matrix.w }}}}'], parallelism: '{parallelism}', \
                 resources: {{cpu: 1, memory: 1Gi, nvidia.com/gpu: 4}}"
            ),
        )
    };
    let axis = "matrix: {axes: {w: [1, 2]}}";
    let equal = job("${{ matrix.w }}").replace("parallelism: '${{ matrix.w }}', ", "");
    assert_eq!(note(&format!("{axis}\n{equal}")), "2 cases × 5 runs × 2h × 4 GPUs");
    let rising = job("${{ matrix.w }}");
    assert_text(note(&format!("{axis}\n{rising}")), str! {"2 cases; the largest is w=2: 5 runs × 2h × 8 GPUs"});
}

/// Returns the finding about names of a benchmark with a name of `length` characters, which the schema would refuse.
#[track_caller]
fn name_of(length: usize, targets: &str, fields: &str) -> Option<(String, String)> {
    let project =
        format!("apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {targets}}}\n");
    let mut compiled = compile(&project, &document(fields));
    assert_eq!(compiled.before, []);
    compiled.benchmarks.iter_mut().for_each(|benchmark| benchmark.name = "n".repeat(length));
    let found = compiled.findings();
    let fault = found.into_iter().find(|fault| fault.code == &code::KB0405)?;
    Some((fault.message.replace(&"n".repeat(length), "<name>"), fault.help.unwrap()))
}

#[test]
fn names() {
    let mpi = |replicas: u32| mpi_job(&format!("launcher: {{}}, worker: {{replicas: {replicas}}}"));
    let (v1, v2) = ("{t: {apis: {mpiJob: v1}}}", "{t: {apis: {mpiJob: v2beta1}}}");
    let torch = workload("pytorchJob", &format!("{SMALL}, master: {{}}, worker: {{replicas: 101}}"));
    let indexed = workload("job", &format!("{SMALL}, completionMode: Indexed, parallelism: 4, completions: 1000"));
    for (longest, targets, fields, what) in [
        (51, v1, String::new(), "the Workflow would be `<name>-00000000-r1`"),
        (46, v1, "run: 123456".to_owned(), "the Workflow would be `<name>-00000000-r123456`"),
        (52, v1, "schedule: {cron: '0 3 * * 1'}".to_owned(), "the CronWorkflow would be `<name>`"),
        (43, v1, torch, "the last pod of `worker` would be `<name>-00000000-worker-100`"),
        (50, v1, indexed, "the last pod of `job` would be `<name>-00000000-999`"),
        (45, v1, mpi(2), "the last pod of `launcher` would be `<name>-00000000-launcher`"),
        (39, v2, mpi(2), "the last pod of `launcher` would be `<name>-00000000-launcher-00000`"),
        (42, v1, mpi(10_000), "the last pod of `worker` would be `<name>-00000000-worker-9999`"),
    ] {
        assert_eq!(name_of(longest, targets, &fields), None, "{fields}");
        let (message, help) = name_of(longest + 1, targets, &fields).unwrap_or_else(|| panic!("{fields}"));
        assert!(message.contains(what), "{message}");
        assert_eq!(help, format!("shorten the benchmark's name to at most {longest} characters"));
    }
}

#[test]
fn no_accepted_name_is_too_long() {
    let longest = kubebench_format::schema::format::MAX_BENCHMARK_NAME;
    let mpi = mpi_job("launcher: {}, worker: {replicas: 10000}");
    let tf = workload("tfJob", &format!("{SMALL}, worker: {{}}, evaluator: {{replicas: 10000}}"));
    for fields in [format!("{mpi}\nrun: 999999"), tf] {
        assert_eq!(name_of(longest, "{t: {}}", &fields), None);
    }
}

#[test]
fn unused_names() {
    let fields = |args: &str| {
        let job = workload("job", &format!("{SMALL}, args: ['{args}']"));
        format!("matrix: {{axes: {{size: [4, 8]}}}}\nparameters: {{depth: 1}}\n{job}")
    };
    check(&fields("${{ matrix.size }} ${{ parameters.depth }}"), &[]);
    check(&fields("${{ matrix.size }}"), &[("KB0406", str! {"nothing uses the parameter `depth`"})]);
    check(&fields("${{ parameters.depth }}"), &[("KB0406", str! {"nothing uses the axis `size`"})]);
}

#[test]
fn timeouts() {
    let untimed = document("").replace("  timeout: 1h\n", "");
    let project = |defaults: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{defaults: {{{defaults}}}}}\n"
        )
    };
    let found = |project: &str| {
        compile(project, &untimed).findings().into_iter().map(|fault| fault.message).collect::<Vec<_>>()
    };
    assert_eq!(found(""), ["`timeout` is not set, so a run that hangs holds its nodes for 1d"]);
    assert_eq!(found(&project("timeout: 2h")), Vec::<String>::new());
}

#[test]
fn scaling() {
    let axis = "matrix: {axes: {w: [2, 4]}}";
    let mpi = |launcher: &str| {
        format!(
            "{axis}\n{}",
            mpi_job(&format!(
                "{KEYS}, launcher: {{command: [{launcher}]}}, worker: {{replicas: '${{{{ matrix.w }}}}'}}"
            ))
        )
    };
    let finding = [("KB0412", str! {"`replicas` follows the axis `w`, but no command, argument or variable does"})];
    check(&mpi("mpirun, '-n', '2', a"), &finding);
    check(&mpi("horovodrun, -np, '2', a"), &finding);
    check(&mpi("sh, -c, 'mpirun -np 2 a'"), &finding);
    check(&mpi("mpirun, '-n', '${{ matrix.w }}', a"), &[]);
    check(&mpi("/usr/bin/mpirun, a"), &[]);
    for followed in ["-N, '8'", "-npernode, '8'", "--map-by, 'ppr:8:node'", "-ppn, '8'"] {
        check(&mpi(&format!("mpirun, {followed}, a")), &[]);
    }
    check(&mpi("sh, -c, 'mpirun -N 8 a'"), &[]);
    let job = |fields: &str| {
        format!("{axis}\n{}", workload("job", &format!("{SMALL}, parallelism: '${{{{ matrix.w }}}}'{fields}")))
    };
    check(
        &job(""),
        &[("KB0412", str! {"`parallelism` follows the axis `w`, but no command, argument or variable does"})],
    );
    check(&job(", env: {SHARDS: '${{ matrix.w }}'}"), &[]);
    check(&job(", completionMode: Indexed"), &[]);
    check(
        &format!(
            "{axis}\n{}",
            workload("pytorchJob", &format!("{SMALL}, worker: {{replicas: '${{{{ matrix.w }}}}'}}"))
        ),
        &[],
    );
}

#[test]
fn too_many_runs() {
    check("repeats: 1000", &[]);
    check("repeats: 999\nwarmups: 2", &[("KB0416", str! {"1001 runs in one Workflow are more than 1000"})]);
}

#[test]
fn amounts_without_a_unit() {
    let of = |resources: &str| workload("job", &format!("resources: {{cpu: 1, {resources}}}"));
    for sound in ["memory: 0", "memory: 1Mi", "memory: 1Gi, hugepages-2Mi: 4Mi", "memory: 1Gi, hugepages-1Gi: 2Gi"] {
        check(&of(sound), &[]);
    }
    check(&of("memory: 32"), &[("KB0334", str! {"32 bytes of `memory` is less than a MiB"})]);
    check(&of("memory: 32m"), &[("KB0334", str! {"32m of `memory` is less than a MiB"})]);
    check(
        &of("memory: 1Gi, hugepages-2Mi: 3Mi"),
        &[("KB0334", str! {"3Mi of `hugepages-2Mi` is not a multiple of the page size 2Mi"})],
    );
    check("results: {claim: {size: 0}}", &[("KB0334", str! {"a claim of 0 bytes is too small for results"})]);
    check("results: {claim: {size: 20}}", &[("KB0334", str! {"a claim of 20 bytes is too small for results"})]);
    let found = compile("", &document(&of("memory: 32m"))).findings();
    assert_text(found[0].help.as_deref().unwrap(), str! {"did you mean `32Gi`?"});
}
