//! How logs are called.

/// Below the output folder.
pub const FOLDER: &str = "logs";

/// Whose log it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogName {
    role: String,
    index: u32,
    container: Option<String>,
}

impl LogName {
    /// Names the log of replica `index` of `role`: of the container that does the work, or of another one.
    pub(crate) fn new(role: &str, index: u32, container: Option<&str>) -> Self {
        Self { role: role.to_owned(), index, container: container.map(str::to_owned) }
    }

    /// Returns its path below the output folder.
    pub(crate) fn path(&self) -> String {
        let Self { role, index, container } = self;
        match container {
            None => format!("{FOLDER}/{role}-{index}.log"),
            Some(container) => format!("{FOLDER}/{role}-{index}.{container}.log"),
        }
    }

    /// Returns the role.
    pub(crate) fn role(&self) -> &str {
        &self.role
    }

    /// Returns the replica.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// Returns whether it is that of the container that does the work, which the rules look at.
    pub(crate) fn is_main(&self) -> bool {
        self.container.is_none()
    }

    /// Reads the name of a file below the folder of logs.
    pub(crate) fn of_file(file: &str) -> Option<Self> {
        let log = file.strip_suffix(".log")?;
        let (replica, container) = log.split_once('.').map_or((log, None), |(replica, name)| (replica, Some(name)));
        let (role, index) = replica.rsplit_once('-')?;
        Some(Self::new(role, index.parse().ok()?, container))
    }
}
