use kubebench_testing::snapshot::{assert_text, str};

use super::*;

fn refused(root: &Path, output: &str, specs: &[&str]) -> Result<(), String> {
    let specs: Vec<_> = specs.iter().map(PathBuf::from).collect();
    refuse_output_place(root, Path::new(output), &specs)
}

#[test]
fn the_output_directory_is_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("specs/deep")).unwrap();
    fs::create_dir_all(root.join("submodule/.git")).unwrap();
    for (output, reason) in [
        ("/tmp/x", str! {"`/tmp/x` is an absolute path; the output directory is relative to the project root"}),
        ("../x", str! {"`../x` is outside the project root"}),
        ("a/../../x", str! {"`a/../../x` is outside the project root"}),
        ("", str! {"the output directory cannot be the project root itself"}),
        (".", str! {"the output directory cannot be the project root itself"}),
        ("a/..", str! {"the output directory cannot be the project root itself"}),
        ("specs", str! {"the output directory `specs` is also a folder of specs (`specs`)"}),
        ("./specs/", str! {"the output directory `specs` is also a folder of specs (`specs`)"}),
        ("specs/generated", str! {"the output directory `specs/generated` is inside a folder of specs (`specs`)"}),
        ("more", str! {"the output directory `more` contains a folder of specs (`more/specs`)"}),
        (".git/x", str! {"`.git/x` is in git's own folder"}),
        ("submodule", str! {"`submodule` is a separate git repository"}),
    ] {
        let error = refused(root, output, &["specs", "more/specs"]).unwrap_err();
        assert_text(error, reason);
    }
    for output in ["generated", "./generated/", "deploy/generated", "specs-generated", "a/../generated"] {
        assert_eq!(refused(root, output, &["specs", "more/specs"]), Ok(()), "{output}");
    }
    assert!(refused(root, "generated", &["."]).is_err());
}

#[cfg(unix)]
#[test]
fn links_do_not_hide_an_overlap() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("generated")).unwrap();
    symlink("generated", root.join("specs")).unwrap();
    symlink("/tmp", root.join("away")).unwrap();
    assert_text(
        refused(root, "generated", &["specs"]).unwrap_err(),
        str! {"the output directory `generated` is also a folder of specs (`specs`)"},
    );
    assert_text(
        refused(root, "away/generated", &[]).unwrap_err(),
        str! {"`away` is a symbolic link; the output directory must be a real folder of the project"},
    );
}

#[test]
fn the_root_is_the_nearest_folder_with_a_project_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    fs::create_dir_all(root.join("a/b/kubebench.yaml")).unwrap();
    assert_eq!(find_root(&root.join("a/b")), root.join("a/b"));
    put(root, "kubebench.yaml", "");
    assert_eq!(find_root(&root.join("a/b/c")), root);
    put(root, "a/kubebench.yaml", "");
    assert_eq!(find_root(&root.join("a/b/c")), root.join("a"));
}
