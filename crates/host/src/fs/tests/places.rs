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
        ("/tmp/x", "absolute path"),
        ("../x", "outside"),
        ("a/../../x", "outside"),
        ("", "project root itself"),
        (".", "project root itself"),
        ("a/..", "project root itself"),
        ("specs", "is also a folder of specs (`specs`)"),
        ("./specs/", "is also a folder of specs (`specs`)"),
        ("specs/generated", "lies in a folder of specs (`specs`)"),
        ("more", "holds a folder of specs (`more/specs`)"),
        (".git/x", "git's own folder"),
        ("submodule", "git repository of its own"),
    ] {
        let error = refused(root, output, &["specs", "more/specs"]).unwrap_err();
        assert!(error.contains(reason), "{output}: {error}");
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
    assert!(refused(root, "generated", &["specs"]).unwrap_err().contains("is also a folder of specs"));
    assert!(refused(root, "away/generated", &[]).unwrap_err().contains("`away` is a symbolic link"));
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
