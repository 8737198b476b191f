//! Names that the schema accepts are refused by no check where Kubernetes takes what is made of them.

use kubebench_format::schema::format::MAX_BENCHMARK_NAME;

use crate::support::project::{Folder, files_below, relative, repository};

#[test]
fn what_serves_may_have_the_longest_name() {
    let root = repository();
    let folder = Folder::with::<&str, &str>([]);
    for file in files_below(&root.join("scripts")).into_iter().chain([root.join("kubebench.yaml")]) {
        folder.write(&relative(root, &file), std::fs::read(&file).unwrap());
    }
    for name in ["kserve-iris", "kserve-llm", "vllm-serving"] {
        let text = std::fs::read_to_string(root.join(format!("specs/{name}.yaml"))).unwrap();
        let longest = format!("{name}-{}", "n".repeat(MAX_BENCHMARK_NAME - name.len() - 1));
        folder.write(
            &format!("specs/{name}.yaml"),
            text.replace(&format!("name: {name}\n"), &format!("name: {longest}\n")),
        );
    }
    let output = folder.run(&["validate", "--output-format", "concise"]);
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !found.contains("KB0405"), "{found}{}", String::from_utf8_lossy(&output.stderr));
    let listed = folder.run(&["list"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed.matches("-nnnn").count(), 3, "{listed}");
}
