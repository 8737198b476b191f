//! Servers of HTTPS whose certificate an authority of its own has signed.

use super::*;
use crate::support::tls::Tls;

/// A volume with one result, and the server that it goes to.
struct Trusted {
    pod: Pod,
    all: BTreeMap<String, String>,
    tls: Tls,
    _http: Http,
}

impl Trusted {
    fn new(test: &str) -> Option<Self> {
        let mut pod = Pod::new("branch");
        let http = Http::serve(pod.site.path(), &[], None, Some("robot:s3cr3t"));
        let backend = http.url("").trim_end_matches('/').trim_start_matches("http://").to_owned();
        let tls = Tls::before(test, pod.site.path(), &backend)?;
        pod.remote = Some(tls.url("remote.git"));
        for (name, text) in [("username", "robot"), ("password", "s3cr3t")] {
            std::fs::write(pod.site.path().join("credential").join(name), text).unwrap();
        }
        let all = BTreeMap::from([pod.put(1)]);
        Some(Self { pod, all, tls, _http: http })
    }

    /// Mounts `file` as the authorities of `results.ca`.
    fn name(&mut self, file: &Path) {
        self.pod.environment = vec![("KUBEBENCH_CA_FILE", file.display().to_string())];
    }

    /// The Secret of the credential has `file` as its authority.
    fn hold(&self, file: &Path) {
        std::fs::copy(file, self.pod.site.path().join("credential/ca.crt")).unwrap();
    }

    #[track_caller]
    fn assert_refused(&self, words: &[&str]) {
        let (status, said) = self.pod.record();
        assert_eq!(status, Some(4), "{said}");
        assert!(words.iter().all(|words| said.contains(words)), "{said}");
        assert!(!self.pod.has_marker(1), "the result waits on the volume");
    }

    #[track_caller]
    fn assert_recorded(&self) {
        self.pod.assert_recorded();
        assert_eq!(self.pod.site.files(), self.all);
    }
}

#[test]
fn an_authority_of_its_own_is_trusted_when_the_secret_holds_it() {
    let test = "an_authority_of_its_own_is_trusted_when_the_secret_holds_it";
    let Some(server) = Trusted::new(test) else { return };
    server.assert_refused(&["certificate", "`results.ca`", "ca.crt"]);
    server.hold(&server.tls.authority());
    server.assert_recorded();
}

#[test]
fn an_authority_of_its_own_is_trusted_when_the_project_names_it() {
    let test = "an_authority_of_its_own_is_trusted_when_the_project_names_it";
    let Some(mut server) = Trusted::new(test) else { return };
    server.name(&server.tls.other_authority());
    server.assert_refused(&["certificate"]);
    server.name(&server.tls.authority());
    server.assert_recorded();
}

/// The Secret is of the git server alone, and so it says better who signs for that.
#[test]
fn the_authority_of_the_secret_wins_over_that_of_the_project() {
    let test = "the_authority_of_the_secret_wins_over_that_of_the_project";
    let Some(mut server) = Trusted::new(test) else { return };
    server.name(&server.tls.authority());
    server.hold(&server.tls.other_authority());
    server.assert_refused(&["certificate"]);
    server.name(&server.tls.other_authority());
    server.hold(&server.tls.authority());
    server.assert_recorded();
}

#[test]
fn authorities_that_cannot_be_used_are_said_and_the_result_waits() {
    let mut pod = Pod::new("branch");
    let remote = pod.remote.replace("https://127.0.0.1:9/remote.git".to_owned()).unwrap();
    let all = BTreeMap::from([pod.put(1)]);
    let file = pod.site.path().join("ca.crt");
    pod.environment = vec![("KUBEBENCH_CA_FILE", file.display().to_string())];
    let said = |pod: &Pod| {
        let (status, words) = pod.record();
        assert_eq!(status, Some(3), "{words}");
        assert!(!pod.has_marker(1), "the result waits on the volume");
        let said = words.lines().find_map(|line| line.split_once("cannot be used: ")).map(|(_, why)| why.to_owned());
        said.unwrap_or(words)
    };
    assert_text(said(&pod), str! {"the namespace does not have that object, or the object does not have that key"});
    std::fs::write(&file, "").unwrap();
    assert_text(said(&pod), str! {"the file has no PEM certificate"});
    std::fs::write(&file, "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n").unwrap();
    assert!(said(&pod).starts_with("the file is damaged: "), "{}", said(&pod));
    std::fs::write(&file, vec![b'x'; (4 << 20) + 1]).unwrap();
    assert_text(said(&pod), str! {"file too large"});
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_text(said(&pod), str! {"is a directory"});
    // What is not reached by HTTPS needs no authority.
    pod.remote = Some(remote);
    pod.assert_recorded();
    assert_eq!(pod.site.files(), all);
}
