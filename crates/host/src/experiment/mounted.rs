//! What Kubernetes mounts into a step: ConfigMaps as folders of files, and the volume of the experiments.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::machine;

/// Returns the texts of a mounted ConfigMap by their keys; none for one that is not there any more.
pub fn config_map(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(texts),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        // Keys are links into a folder that the kubelet exchanges as a whole, `..data`.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with("..") {
            continue;
        }
        let path = entry.path();
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        texts.insert(name, text);
    }
    Ok(texts)
}

/// Sees that files can be made on the volume of the experiments: after hours of measuring it is late for that.
///
/// # Errors
/// Why they cannot be, and what to do.
pub fn check_volume(root: &Path) -> Result<()> {
    let probe = root.join(format!(".probe-{}", machine::random_id()?));
    let tried = File::create_new(&probe).and_then(|mut file| file.write_all(&[0; 4096]).and_then(|()| file.sync_all()));
    drop(std::fs::remove_file(&probe));
    let (user, group) = machine::user();
    let place = root.display();
    match tried {
        Ok(()) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied) => bail!(
            "user {user}, group {group} cannot write to the volume at {place}: {error}; Kubernetes does not apply \
             `fsGroup` to every kind of volume (hostPath, NFS): give the mounted folder to {user}:{group} (`chown \
             {user}:{group}`), or make it writable for the group {group} (`chmod 2775`)"
        ),
        Err(error) if error.raw_os_error() == Some(READ_ONLY) => {
            bail!(
                "the volume at {place} is read-only: {error}; the claim of results needs an access mode that allows \
                   writing"
            )
        }
        Err(error) if is_full(&error) => bail!(
            "the volume at {place} is full: {error}; remove old runs from it (those with `recorded.json` are in git), or ask for a \
             larger claim with `results.claim.size`"
        ),
        Err(error) => Err(error).with_context(|| format!("cannot write to the volume at {place}")),
    }
}

/// `EROFS`, for which the standard library's kind is unstable on some targets.
const READ_ONLY: i32 = 30;

/// Returns true when no space, or no quota, was left.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use kubebench_testing::snapshot::{assert_text, named, str};

    use super::{check_volume, config_map};

    #[test]
    fn a_config_map_is_read_through_the_links_of_the_kubelet() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("..2026");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("runs.json"), "{}").unwrap();
        symlink("..2026", folder.path().join("..data")).unwrap();
        symlink("..data/runs.json", folder.path().join("runs.json")).unwrap();
        let texts = config_map(folder.path()).unwrap();
        assert_eq!(texts.into_iter().collect::<Vec<_>>(), [("runs.json".to_owned(), "{}".to_owned())]);
        assert!(config_map(&folder.path().join("absent")).unwrap().is_empty());
    }

    #[test]
    fn a_volume_that_takes_no_files_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        check_volume(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let error = check_volume(&folder.path().join("absent")).unwrap_err();
        assert_text(
            named(error, &[(folder.path().to_str().unwrap(), "FOLDER")]),
            str! {"cannot write to the volume at FOLDER/absent"},
        );
    }
}
