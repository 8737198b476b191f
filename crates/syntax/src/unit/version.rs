//! Requirements on the version of kubebench.

use super::UnitError;

/// A requirement such as `>=0.1, <0.2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionReq(semver::VersionReq);

impl VersionReq {
    /// Parses a requirement in the syntax of Cargo.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        semver::VersionReq::parse(text).map(Self).map_err(|error| UnitError {
            message: format!("`{text}` is not a version requirement: {error}"),
            help: Some("write for example `>=0.1, <0.2`".to_owned()),
            range: None,
        })
    }

    /// Returns true when `version` (such as `0.1.0`) satisfies the requirement.
    pub fn matches(&self, version: &str) -> bool {
        semver::Version::parse(version).is_ok_and(|version| self.0.matches(&version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements() {
        assert!(VersionReq::parse(">=0.1, <0.2").unwrap().matches("0.1.7"));
        assert!(!VersionReq::parse(">=2.0").unwrap().matches("0.1.0"));
        assert!(VersionReq::parse("new").is_err());
    }
}
