//! Other projects of the repository that emit the same objects, or record results in the same place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{CompiledProject, Pods, Project, Selector};
use crate::app::start::{Start, VERSION};
use kubebench_compiler::compile::{Compilation, Workspace};
use kubebench_compiler::lower::{PROJECT_FILE, RESERVED_NAME};
use kubebench_compiler::model::Target;
use kubebench_git::folders_with;
use kubebench_host::fs;
use kubebench_syntax::diag::render::{listed, on_one_line};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::words::counted;
use kubebench_syntax::yaml::{self, Node};

/// What no two projects may emit with different content: cluster, kind with its group, namespace and name.
type Identity = (String, String, String, String);

/// How two projects are called: their files from the top of the repository, and that of the other one from the own folder.
struct Names {
    own: String,
    other: String,
    path: String,
}

/// An object of a project.
struct Emitted<'c> {
    target: &'c Target,
    /// The benchmark or suite, unless all of the target share it.
    owner: Option<&'c str>,
    body: &'c str,
}

/// The objects of a target that another one emits with other content, each with its owner.
struct Differing<'c> {
    target: &'c Target,
    other: &'c Target,
    objects: Vec<(&'c Identity, Option<&'c str>)>,
}

impl CompiledProject {
    /// Compares this project with the others that git tracks.
    pub fn shared_with_neighbors(&self) -> Diagnostics {
        let mut found = Diagnostics::default();
        let Some((top, folders)) = folders_with(&self.root, PROJECT_FILE) else { return found };
        let Some(own) = fs::real_place(&self.root) else { return found };
        let mut objects = None;
        for folder in folders {
            let root = top.join(&folder);
            if root == own {
                continue;
            }
            let start = Start::at(Some(root.clone()));
            let Ok(Project { file: Some(file), .. }) = Project::find(&start) else { continue };
            let names = Names {
                own: file_in(&relative(&top, &own)),
                other: file_in(&folder),
                path: file_in(&relative(&own, &root)),
            };
            let neighbor = Workspace::open(Some(file), VERSION);
            found.extend(self.shared_results(&neighbor, &root, &names));
            if !self.shares_a_place(&neighbor) {
                continue;
            }
            let Ok(other) = Self::open(&start, &Selector::default(), Pods::Dropped) else { continue };
            let objects = objects.get_or_insert_with(|| emitted(&self.compilation));
            found.extend(differences(objects, &emitted(&other.compilation), &names));
        }
        found
    }

    /// Reports a benchmark whose name a compiled benchmark of the neighbor at `root` has too, where both record their results in one place.
    fn shared_results(&self, neighbor: &Workspace, root: &Path, names: &Names) -> Option<Diagnostic> {
        let own = &self.compilation.project.as_ref()?.settings.results;
        let settings = &neighbor.project()?.settings;
        let other = &settings.results;
        let may_be_one = |one: Option<&String>, two: Option<&String>| one.zip(two).is_none_or(|(one, two)| one == two);
        let is_shared = [own, other].iter().all(|results| results.mode != "local")
            && may_be_one(own.remote.as_ref(), other.remote.as_ref())
            && (&own.branch, &own.directory) == (&other.branch, &other.directory);
        if !is_shared {
            return None;
        }
        let compiled = compiled_names(&root.join(&settings.output));
        let mut benchmarks = self.compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
        let benchmark = benchmarks.find(|benchmark| compiled.contains(&benchmark.name))?;
        let message = format!(
            "`{}` and `{}` record results of a benchmark `{}` in one place: `{}` on the branch `{}`",
            on_one_line(&names.own),
            on_one_line(&names.other),
            benchmark.name,
            own.directory,
            own.branch
        );
        let fault = Diagnostic::at(&code::KB0512, benchmark.name_span, message)
            .related(Place::File(names.path.clone()), "the other project")
            .note("they would have one history, and a gate would compare two different benchmarks")
            .help(format!("give one of the projects another branch, such as `results: {{branch: {}-2}}`", own.branch));
        Some(fault)
    }

    /// Returns whether a neighbor has a target where one of this project is.
    fn shares_a_place(&self, neighbor: &Workspace) -> bool {
        let own = || self.compilation.project.iter().flat_map(|project| &project.targets);
        let others = neighbor.project().into_iter().flat_map(|project| &project.targets);
        others
            .into_iter()
            .any(|other| own().any(|target| target.cluster == other.cluster && target.namespace == other.namespace))
    }
}

/// Returns the names of the benchmarks that have manifests in the folder `output`, of any target.
fn compiled_names(output: &Path) -> BTreeSet<String> {
    fs::names(output).into_iter().flat_map(|target| fs::names(&output.join(target))).collect()
}

/// Names the projects below `root` that git tracks, and what to do to work on one.
pub(super) fn where_projects_are(root: &Path) -> Option<String> {
    const MOST: usize = 5;
    let (top, folders) = folders_with(root, PROJECT_FILE)?;
    let root = fs::real_place(root)?;
    let below = folders.iter().map(|folder| top.join(folder)).filter(|folder| folder.starts_with(&root));
    let below: Vec<String> = below.map(|folder| relative(&root, &folder)).collect();
    let more = if below.len() > MOST { format!(" and {} more", below.len() - MOST) } else { String::new() };
    let named = listed(below.iter().take(MOST).map(String::as_str));
    (!below.is_empty()).then(|| format!("projects below it: {named}{more}; choose one with `-C FOLDER`"))
}

/// Returns the path of `to` from `from`, both of which are absolute.
pub(in crate::app) fn relative(from: &Path, to: &Path) -> String {
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| "..".to_owned());
    let down = to.components().skip(common).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

fn file_in(folder: &str) -> String {
    if folder.is_empty() { PROJECT_FILE.to_owned() } else { format!("{folder}/{PROJECT_FILE}") }
}

fn emitted(compilation: &Compilation) -> BTreeMap<Identity, Emitted<'_>> {
    let mut objects = BTreeMap::new();
    let Some(project) = &compilation.project else { return objects };
    for (path, file) in compilation.tree.iter() {
        let mut folders = path.split('/');
        let name = folders.next().unwrap_or_default();
        let owner = folders.next().filter(|folder| *folder != RESERVED_NAME);
        let Some(target) = project.targets.iter().find(|target| target.name == name) else { continue };
        let body = file.body();
        if let Some(identity) = identity(&target.cluster, body) {
            objects.insert(identity, Emitted { target, owner, body });
        }
    }
    objects
}

fn identity(cluster: &str, body: &str) -> Option<Identity> {
    let root = yaml::read(SourceId::default(), &Source::new("", body.as_bytes())).root?;
    let text = |node: Option<&Node>| node.and_then(Node::as_text).map(str::to_owned);
    // The version of a group is no part of what an object is.
    let group =
        text(root.get("apiVersion"))?.split_once('/').map_or_else(String::new, |(group, _)| format!(".{group}"));
    let metadata = root.get("metadata")?;
    let namespace = text(metadata.get("namespace")).unwrap_or_default();
    Some((cluster.to_owned(), format!("{}{group}", text(root.get("kind"))?), namespace, text(metadata.get("name"))?))
}

/// Reports the objects of each target that another project emits with other content.
fn differences(
    own: &BTreeMap<Identity, Emitted<'_>>,
    others: &BTreeMap<Identity, Emitted<'_>>,
    names: &Names,
) -> Vec<Diagnostic> {
    let mut of_targets = BTreeMap::<&str, Differing<'_>>::new();
    for (identity, object) in own {
        let Some(other) = others.get(identity).filter(|other| other.body != object.body) else { continue };
        let of_target = of_targets.entry(&object.target.name).or_insert_with(|| Differing {
            target: object.target,
            other: other.target,
            objects: Vec::new(),
        });
        of_target.objects.push((identity, object.owner));
    }
    let finding = |Differing { target, other, objects }: Differing<'_>| {
        let ((_, kind, _, name), _) = objects.first()?;
        let owners: BTreeSet<Option<&str>> = objects.iter().map(|(_, owner)| *owner).collect();
        let elsewhere = "give one of the two targets another `namespace` or `cluster`";
        let help = match owners.iter().copied().collect::<Option<Vec<&str>>>() {
            Some(names) => {
                let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
                format!("rename {} in one of the projects, or {elsewhere}", names.join(", "))
            }
            None if owners.len() == 1 => format!("{elsewhere}, or both the same settings"),
            None => elsewhere.to_owned(),
        };
        let message = format!(
            "the projects `{}` and `{}` emit {} of the namespace `{}` with different content, such as {kind} `{name}`",
            on_one_line(&names.own),
            on_one_line(&names.other),
            counted(objects.len(), "object"),
            target.namespace
        );
        let fault = Diagnostic::at(&code::KB0511, target.span, message)
            .related(Place::File(names.path.clone()), format!("the other project, with its target `{}`", other.name))
            .note("each sync of one project would overwrite the objects of the other")
            .help(help);
        Some(fault)
    };
    of_targets.into_values().filter_map(finding).collect()
}
