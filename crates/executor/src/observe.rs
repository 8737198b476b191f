//! A run in a cluster, from what the API server shows of it: its job, its pods and their events.
//!
//! Pure: what was seen comes in, what the run is comes out. Observations may be stale, doubled, missing and in any order;
//! the observer passes all that it has seen. Texts come from the cluster, so the caller that stores them redacts them.

pub(crate) mod composition;
pub(crate) mod container;
mod event;
pub(crate) mod neighbor;
pub(crate) mod node;
mod pod;
mod queue;
pub mod stamped;
mod timeline;
mod usage;
mod why;
pub(crate) mod workflow;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value as Json;

pub use k8s_openapi::api::core::v1::{Event, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};

use event::EventSummary;
use kubebench_compiler::workload::{self, Kind, Outcome, Purpose, count_at, kind_of, pod_sets};
use kubebench_contract::text_at;
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Exit, Image, Status, StatusReason, Timings, Usage};
use kubebench_syntax::invariant::Invariant as _;
pub use pod::End;
pub(crate) use pod::PodFacts;
use pod::ServerTime;
pub(crate) use pod::keep_first_deletion;
use why::{Effect, Subject, Why};

/// A replica, by its role and index.
pub(crate) type Place = (String, u32);
/// Which replica a pod was taken for, by its uid.
pub(crate) type Places = BTreeMap<String, Place>;

/// All that was seen of one attempt of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed<'a> {
    /// The job as it was last seen.
    pub job: &'a Json,
    /// Its pods, in all versions that were seen, those that are gone too.
    pub pods: &'a [Pod],
    /// Events of the job and its pods.
    pub events: &'a [Event],
    /// What its queue says of it: Kueue's Workload.
    pub workload: Option<&'a Json>,
    /// The uids of what the API server does not have any more, the job's among them if it is gone.
    pub gone: &'a BTreeSet<String>,
    /// The roles and indices that pods without a number got earlier, from more observations: they keep them.
    pub places: &'a Places,
}

/// What the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not all of its pods have started.
    Waiting,
    /// All of its pods have started.
    Running,
    /// It is over. The job may still exist, and even continue: its follower deletes it.
    Ended(Status),
}

/// One replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Replica {
    pub role: String,
    /// The replica, from 0.
    pub index: u32,
    /// Whether the run ends when it does.
    pub decides: bool,
    /// Its newest pod.
    pub pod: PodFacts,
    /// The API server does not have that pod any more.
    pub is_gone: bool,
}

/// A run as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress {
    pub state: State,
    /// What holds it up, or why it did not succeed; the first explains most. Empty after a success.
    pub reasons: Vec<StatusReason>,
    /// How many pods the job asks for at once.
    pub wanted: u32,
    /// Its replicas, by role and index.
    pub replicas: Vec<Replica>,
    /// The pods of replicas that others have replaced.
    pub replaced: Vec<Replica>,
    /// Where its time went.
    pub timings: Timings,
    /// How its replicas ended.
    pub exits: Vec<Exit>,
    /// How often a container was restarted or a pod that had started was replaced.
    pub restarts: u32,
    /// The images that ran.
    pub images: Vec<Image>,
    /// The names of the nodes that it ran on.
    pub nodes: Vec<String>,
    /// What it held of the cluster.
    pub usage: Usage,
}

impl Progress {
    /// Returns whether all pods that the job asks for have their node: its time in the queue is over.
    pub(crate) fn is_scheduled(&self) -> bool {
        let scheduled = self.replicas.iter().filter(|replica| replica.pod.node.is_some()).count();
        scheduled >= self.wanted as usize
    }
}

/// Sums up what was seen.
pub(crate) fn sum(observed: &Observed<'_>) -> Progress {
    let mut job = Job::read(observed);
    let pods = own_pods(observed.pods, &job, text_at(observed.job, "/kind"));
    let main = job.kind.map_or("", |kind| kind.container);
    let sets = pod_sets(observed.job);
    let deciders = workload::deciders(observed.job);
    let known: Vec<(&Pod, PodFacts)> =
        pods.into_iter().map(|pod| (pod, PodFacts::read(pod, job.name, main, &sets))).collect();
    let (latest, replaced) = by_replica(&known, observed);
    let events = EventSummary::all(observed.events);
    let mut events_of: BTreeMap<&str, Vec<EventSummary<'_>>> = BTreeMap::new();
    for event in &events {
        events_of.entry(event.about).or_default().push(*event);
    }

    let all: Vec<&PodFacts> = known.iter().map(|(_, facts)| facts).collect();
    let clocks = timeline::Clocks::of(&all);
    let mut whys = Vec::new();
    let (mut replicas, mut earlier) = (Vec::new(), Vec::new());
    for (place, pod, facts) in latest
        .iter()
        .map(|(place, known)| (place, known.0, &known.1))
        .chain(replaced.iter().map(|(place, known)| (place, known.0, &known.1)))
    {
        let (role, index) = place;
        let own = events_of.get(facts.uid.as_str()).map_or(&[][..], Vec::as_slice);
        let is_gone = observed.gone.contains(&facts.uid);
        let name = format!("{role}-{index}");
        let decides = deciders.hold(role, *index);
        let at = facts.ended.and_then(|time| clocks.on_server(facts, time));
        let purpose = job.purpose();
        let subject = Subject { pod, facts, name: &name, decides, is_gone, ended: at, events: own, main, purpose };
        let is_latest = latest.get(place).is_some_and(|newest| newest.1.uid == facts.uid);
        // What held up a pod that was replaced, or has done its work, holds up nothing now.
        let holds = is_latest && !subject.has_succeeded();
        let why = subject.why().filter(|why| holds || why.ends() || job.has_failed());
        let why = why.filter(|why| !(job.is_composed && why.code == ReasonCode::Deleted));
        // A controller deletes pods when it gives up; what kept them from starting is why.
        let is_removed = why.as_ref().is_some_and(|why| why.code == ReasonCode::Deleted);
        whys.extend(subject.delay().filter(|_| is_removed && is_latest && job.has_failed()));
        whys.extend(why.map(|why| Why {
            at: why.at.or(at),
            effect: if job.is_composed { Effect::Holds } else { why.effect },
            ..why
        }));
        let replica = Replica { role: role.clone(), index: *index, decides, pod: facts.clone(), is_gone };
        if is_latest { replicas.push(replica) } else { earlier.push(replica) }
    }
    replicas.sort_by(|one, other| (&one.role, one.index).cmp(&(&other.role, other.index)));
    // What Argo makes of a template is known only when it has begun.
    let wanted = workload::count(&sets).max(u32::from(job.is_composed));
    let ready = replicas.iter().filter(|replica| replica.pod.is_ready && !replica.is_gone).count();
    if job.purpose() == Purpose::Serves && job.outcome == Outcome::Succeeded && ready < wanted as usize {
        // Its controller accepts fewer replicas than are to be measured.
        job.outcome = Outcome::Running;
    }
    let seen = replicas.iter().filter(|replica| !replica.is_gone).count();
    if seen < wanted as usize {
        let of_job = |event: &&EventSummary<'_>| {
            let is_part = event.name != job.name && job.owns(event.name);
            !event.is_of_pod && (event.about == job.uid || is_part)
        };
        let own: Vec<EventSummary<'_>> = events.iter().filter(of_job).copied().collect();
        whys.extend(why::missing_pods(&own, job.name));
    }
    let started_again = known.iter().map(|(pod, _)| pod::restarts_before(pod)).fold(job.restarts, u32::max);
    whys.extend(why::started_again(started_again));
    let is_late =
        |event: &&EventSummary<'_>| !event.is_of_pod && event.reason == "DeadlineExceeded" && job.owns(event.name);
    let is_late = job.has_failed() && events.iter().any(|event| is_late(&event));
    let started = replicas.iter().filter(|replica| replica.pod.has_started()).count();
    let begun = Begun {
        any: known.iter().any(|(_, facts)| facts.has_started()),
        missing: (wanted as usize).saturating_sub(started),
        all: !replicas.is_empty() && started >= wanted as usize,
        is_late,
    };
    let state = job.judge(&mut whys, begun, observed.workload);
    let reasons = if state == State::Ended(Status::Succeeded) { Vec::new() } else { why::reasons(&whys) };

    let counts = |replica: &&Replica| replica.decides || job.is_composed;
    let counting = replicas.iter().filter(|replica| counts(replica) || state != State::Ended(Status::Succeeded));
    let timings = timeline::timings(
        &timeline::Span {
            created: job.created,
            pods: &replicas.iter().map(|replica| &replica.pod).collect::<Vec<_>>(),
            counting: &counting.map(|replica| &replica.pod).collect::<Vec<_>>(),
            wanted: wanted as usize,
        },
        &clocks,
    );
    let restarts = known.iter().map(|(_, facts)| facts.restarts).fold(0, u32::saturating_add);
    let replacements = replaced.iter().filter(|(_, known)| known.1.has_started()).count();
    Progress {
        state,
        reasons,
        wanted,
        timings,
        exits: replicas.iter().filter_map(|replica| replica.pod.exit(replica.index)).collect(),
        restarts: restarts.saturating_add(u32::try_from(replacements).unwrap_or(u32::MAX)).max(started_again),
        images: images(&all),
        usage: usage::usage(&known, |facts| replicas.iter().any(|replica| replica.pod.uid == facts.uid), &clocks),
        nodes: all.iter().filter_map(|facts| facts.node.clone()).collect::<BTreeSet<_>>().into_iter().collect(),
        replicas,
        replaced: earlier,
    }
}

/// How far the pods of a job have come.
#[derive(Clone, Copy)]
struct Begun {
    /// Whether any pod has started.
    any: bool,
    /// How many have not.
    missing: usize,
    /// Whether all have.
    all: bool,
    /// Whether a Job that was made for the job was stopped at its deadline, of which the job itself says nothing.
    is_late: bool,
}

/// Where objects say how long they may take.
const DEADLINES: [&str; 3] = [
    "/spec/activeDeadlineSeconds",
    "/spec/runPolicy/activeDeadlineSeconds",
    "/spec/replicatedJobs/0/template/spec/activeDeadlineSeconds",
];

/// What matters of the job.
struct Job<'a> {
    name: &'a str,
    uid: &'a str,
    created: Option<ServerTime>,
    kind: Option<&'static Kind>,
    outcome: Outcome,
    /// Whether its controller decides which of its pods are needed, and takes away the others: Argo, Katib.
    is_composed: bool,
    is_deleted: bool,
    /// After how many seconds its controller stops it.
    deadline: Option<u64>,
    /// How often its controller says that it started all of it again.
    restarts: u32,
}

impl<'a> Job<'a> {
    fn read(observed: &Observed<'a>) -> Self {
        let text = |at: &str| observed.job.pointer(at).and_then(Json::as_str).unwrap_or_default();
        let kind = kind_of(observed.job);
        let uid = text("/metadata/uid");
        let created = observed.job.pointer("/metadata/creationTimestamp").and_then(|time| Time::deserialize(time).ok());
        Self {
            name: text("/metadata/name"),
            uid,
            created: created.as_ref().map(ServerTime::of),
            kind,
            outcome: workload::outcome(observed.job),
            is_composed: workload::is_composed(observed.job),
            is_deleted: observed.gone.contains(uid) || !text("/metadata/deletionTimestamp").is_empty(),
            deadline: DEADLINES.into_iter().find_map(|at| observed.job.pointer(at)?.as_u64()),
            restarts: count_at(observed.job, "/status/restarts").unwrap_or_default(),
        }
    }

    fn purpose(&self) -> Purpose {
        self.kind.map_or(Purpose::Works, |kind| kind.purpose)
    }

    fn has_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. })
    }

    fn timeout(&self, begun: Begun) -> String {
        let seconds = self.deadline.map_or_else(String::new, |seconds| format!(" of {seconds} s"));
        let what = format!("the job was stopped after its timeout{seconds}, which counts from its creation");
        match begun.missing {
            0 => what,
            missing => format!("{what}; {missing} of its pods had not started by then"),
        }
    }

    /// Returns whether an object of this name is one that the job's operator made for it.
    fn owns(&self, name: &str) -> bool {
        !self.name.is_empty()
            && name.strip_prefix(self.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// Says what the run is, and puts `whys` into the order in which people read them.
    fn judge(&self, whys: &mut Vec<Why>, begun: Begun, workload: Option<&Json>) -> State {
        let own = |code, status, what: &str| Why::new(code, status, Effect::Ends, "", what.to_owned());
        match &self.outcome {
            Outcome::Succeeded => {
                whys.retain(|why| why.effect == Effect::Spoils);
                if whys.is_empty() {
                    return State::Ended(Status::Succeeded);
                }
            }
            Outcome::Failed { reason, message } => {
                // The whole word: `ProgressDeadlineExceeded` of a Deployment is no timeout of the run.
                if begun.is_late || reason == "DeadlineExceeded" || message.contains("longer than specified deadline") {
                    whys.push(own(ReasonCode::Timeout, Status::TimedOut, &self.timeout(begun)));
                }
                why::explain_deletions(whys, true);
                // What a pod failed by may be what its controller forgave.
                if whys.is_empty() || self.is_composed {
                    let what = format!("the job failed ({reason}): {}", why::sentence(message));
                    whys.push(own(ReasonCode::JobFailed, Status::Failed, &what));
                }
            }
            _ if self.is_deleted => {
                whys.retain(|why| why.code != ReasonCode::Deleted);
                let what = "the job was deleted while it ran, by something other than Kubebench";
                whys.push(own(ReasonCode::Deleted, Status::Interrupted, what));
            }
            Outcome::Suspended => {
                // Suspending a job deletes its pods.
                whys.retain(|why| why.code != ReasonCode::Deleted);
                let explained =
                    |what: &str, why: Option<String>| why.map_or(what.to_owned(), |why| format!("{what}: {why}"));
                if begun.any {
                    let what = "the job was suspended after it had started, as by a queue that reclaims its quota";
                    whys.push(own(
                        ReasonCode::Preempted,
                        Status::Preempted,
                        &explained(what, workload.and_then(queue::evicted)),
                    ));
                } else {
                    let what =
                        explained("the job is suspended until its queue admits it", workload.and_then(queue::held));
                    whys.push(Why::new(ReasonCode::Queued, Status::Failed, Effect::Holds, "", what));
                }
            }
            // The operator deletes the pods of a job that fails before it says that it failed.
            Outcome::Pending | Outcome::Running => why::explain_deletions(whys, false),
        }
        let is_over = self.has_failed() || whys.iter().any(Why::ends);
        why::sort(whys);
        let first = whys.iter().find(|why| self.has_failed() || why.ends());
        match first {
            Some(first) if is_over => State::Ended(first.status),
            _ if begun.all => State::Running,
            _ => State::Waiting,
        }
    }
}

/// Returns the pods of `job`, each once and in its newest version, by uid.
fn own_pods<'a>(pods: &'a [Pod], job: &Job<'_>, kind: &str) -> Vec<&'a Pod> {
    let mut known: BTreeMap<&str, &Pod> = BTreeMap::new();
    for pod in pods {
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        let owners = pod.metadata.owner_references.as_deref().unwrap_or_default();
        // A pod of an earlier object of the same name is not one of it. That KubeRay makes a Job of the name of its RayJob is another
        // matter.
        let is_foreign =
            owners.iter().any(|owner| owner.name == job.name && owner.kind == kind && owner.uid != job.uid);
        if is_foreign || !job.owns(name) {
            continue;
        }
        let key = pod.metadata.uid.as_deref().unwrap_or(name);
        let kept = known.get(key).map_or(pod, |other| newest(*other, pod));
        known.insert(key, kept);
    }
    known.into_values().collect()
}

type Known<'a> = &'a (&'a Pod, PodFacts);

/// Returns the newest pod of each replica, and those that they replaced. Pods that nothing numbers are numbered by age,
/// behind those that have their number.
fn by_replica<'a>(
    known: &'a [(&'a Pod, PodFacts)],
    observed: &Observed<'_>,
) -> (BTreeMap<Place, Known<'a>>, Vec<(Place, Known<'a>)>) {
    let mut sorted: Vec<Known<'a>> = known.iter().collect();
    sorted.sort_by_key(|(pod, facts)| {
        // Of two pods that were created in one second the one that goes is the older.
        let lives = !observed.gone.contains(&facts.uid) && pod.metadata.deletion_timestamp.is_none();
        (facts.index.is_none(), facts.created, lives, facts.name.clone(), facts.uid.clone())
    });
    let mut latest: BTreeMap<Place, Known<'a>> = BTreeMap::new();
    let mut replaced = Vec::new();
    let taken: BTreeSet<&Place> = observed.places.values().collect();
    let mut free: BTreeMap<&str, u32> = BTreeMap::new();
    for pod in sorted {
        let facts = &pod.1;
        let mut place = (facts.role.clone(), facts.index.unwrap_or_default());
        let numbered = observed.places.get(&facts.uid).filter(|numbered| numbered.0 == facts.role);
        if let (None, Some(numbered)) = (facts.index, numbered) {
            place.clone_from(numbered);
        } else if facts.index.is_none() {
            let next = free.entry(&facts.role).or_insert(0_u32);
            place.1 = *next;
            while latest.contains_key(&place) || taken.contains(&place) {
                place.1 = place.1.saturating_add(1);
            }
            *next = place.1;
        }
        if let Some(older) = latest.insert(place.clone(), pod) {
            replaced.push((place, older));
        }
    }
    (latest, replaced)
}

fn images(pods: &[&PodFacts]) -> Vec<Image> {
    let seen: BTreeSet<(&str, &str, Option<&str>)> =
        pods.iter().filter_map(|pod| Some((pod.role.as_str(), pod.image.as_deref()?, pod.digest.as_deref()))).collect();
    let runs =
        |role: &str, image: &str| seen.iter().any(|other| other.0 == role && other.1 == image && other.2.is_some());
    seen.iter()
        // A pod that has not started says nothing that another one of its role does not.
        .filter(|(role, image, digest)| digest.is_some() || !runs(role, image))
        .map(|(role, image, digest)| Image {
            role: (*role).to_owned(),
            declared: (*image).to_owned(),
            observed: digest.map(str::to_owned),
        })
        .collect()
}

/// An object of the API that has versions.
trait Versioned: serde::Serialize {
    fn metadata(&self) -> &ObjectMeta;
}

impl Versioned for Pod {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }
}

impl Versioned for Event {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }
}

/// Returns the newer version of one object, whichever comes first.
fn newest<'a, T: Versioned>(one: &'a T, other: &'a T) -> &'a T {
    // Numbers of growing length; what is no number compares as text.
    let version = |object: &'a T| {
        let text = object.metadata().resource_version.as_deref().unwrap_or_default();
        (text.len(), text)
    };
    let text = |object: &T| serde_json::to_string(object).expected("JSON of an object that was JSON");
    let order = version(one).cmp(&version(other)).then_with(|| text(one).cmp(&text(other)));
    if order.is_lt() { other } else { one }
}

#[cfg(test)]
mod tests;
