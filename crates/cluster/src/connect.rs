//! The way to an API server: its configuration, and the thread that speaks to it.

use std::env;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use super::fault::{Fault, words};
use super::proxy::proxy;

/// A connection that gives nothing for so long is dead. Watches and logs notice earlier by themselves.
const SILENCE: Duration = Duration::from_secs(65);

/// After how many seconds the API server ends a watch, which resumes where it was.
const WATCH_SECONDS: u32 = 45;

const CONNECT: Duration = Duration::from_secs(10);

/// One API server, and the thread on which everything that concerns it runs.
pub(super) struct Connection {
    client: Client,
    address: String,
    watch_seconds: u32,
    handle: Handle,
    /// Dropped with the connection, which ends the thread.
    _alive: oneshot::Sender<()>,
}

impl Connection {
    pub(super) fn inside() -> Result<Self> {
        let config = Config::incluster().map_err(|error| {
            anyhow!(
                "cannot use the API server from here: {}; a step runs in a pod with a mounted service account token",
                words(&error)
            )
        })?;
        Self::to(config)
    }

    /// Of the files, those that do not exist are skipped, as `kubectl` does.
    pub(super) fn by_files(places: &[PathBuf], context: Option<&str>) -> Result<Self> {
        let found: Vec<&PathBuf> = places.iter().filter(|place| place.is_file()).collect();
        if found.is_empty() {
            let looked: Vec<String> = places.iter().map(|place| format!("`{}`", place.display())).collect();
            bail!(
                "there is no kubeconfig: looked for {}; set KUBECONFIG to the file that `kubectl` uses",
                if looked.is_empty() { "`~/.kube/config`".to_owned() } else { looked.join(", ") }
            );
        }
        let mut merged = Kubeconfig::default();
        for place in &found {
            let read = Kubeconfig::read_from(place).and_then(|next| std::mem::take(&mut merged).merge(next));
            merged = read.map_err(|error| anyhow!("cannot read `{}`: {}", place.display(), words(&error)))?;
        }
        let known: Vec<String> = merged.contexts.iter().map(|context| format!("`{}`", context.name)).collect();
        let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
        let configured = configured_proxy(&merged, context);
        let mut config = Builder::new_current_thread()
            .build()
            .context("cannot start the asynchronous runtime")?
            .block_on(Config::from_custom_kubeconfig(merged, &options))
            .map_err(|error| {
                let known = if known.is_empty() {
                    "no context".to_owned()
                } else {
                    format!("the contexts {}", known.join(", "))
                };
                anyhow!("the kubeconfig cannot be used: {}; it has {known}", words(&error))
            })?;
        let (url, variable) = (&config.cluster_url, |name: &str| env::var_os(name)?.into_string().ok());
        let scheme = url.scheme_str().unwrap_or("https");
        let port = url.port_u16().unwrap_or(if scheme == "http" { 80 } else { 443 });
        config.proxy_url = proxy(configured.as_deref(), variable, scheme, url.host().unwrap_or_default(), port)
            .map(|proxy| {
                proxy
                    .parse()
                    .map_err(|error| anyhow!("the proxy `{}` is not a valid URL: {error}", without_user(&proxy)))
            })
            .transpose()?;
        Self::to(config)
    }

    /// Speaks to the API server that `config` names.
    fn to(mut config: Config) -> Result<Self> {
        config.read_timeout.get_or_insert(SILENCE);
        config.reset_reader_on_write = true;
        config.connect_timeout = Some(CONNECT);
        config.default_retry = false;
        let address = without_user(&config.cluster_url.to_string());
        let (handle, alive) = start()?;
        let entered = handle.enter();
        let client = Client::try_from(config)
            .map_err(|error| anyhow!("cannot set up a connection to {address}: {}", words(&error)))?;
        drop(entered);
        Ok(Self { client, address, watch_seconds: WATCH_SECONDS, handle, _alive: alive })
    }

    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// After how many seconds the API server ends a watch, which resumes where it was.
    pub(super) fn watch_seconds(&self) -> u32 {
        self.watch_seconds
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `work` on the thread of the connection and waits for what it gives.
    pub(super) fn wait_for<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Fault> {
        let (sender, receiver) = mpsc::channel();
        self.handle.spawn(async move {
            let _ = sender.send(work.await);
        });
        // Without an answer the work itself is gone, with the thread.
        receiver.recv().or(Err(Fault::Unreachable(format!("the thread that talks to {} has ended", self.address))))
    }
}

/// The proxy that the kubeconfig names for the cluster of a context.
fn configured_proxy(kubeconfig: &Kubeconfig, context: Option<&str>) -> Option<String> {
    let name = context.or(kubeconfig.current_context.as_deref())?;
    let context = kubeconfig.contexts.iter().find(|context| context.name == name)?.context.as_ref()?;
    let cluster = kubeconfig.clusters.iter().find(|cluster| cluster.name == context.cluster)?;
    cluster.cluster.as_ref()?.proxy_url.clone()
}

/// Starts the thread; it ends when the returned sender is dropped.
fn start() -> Result<(Handle, oneshot::Sender<()>)> {
    let runtime =
        Builder::new_current_thread().enable_all().build().context("cannot start the asynchronous runtime")?;
    let handle = runtime.handle().clone();
    let (alive, ended) = oneshot::channel::<()>();
    thread::Builder::new()
        .name("cluster".to_owned())
        .spawn(move || {
            let _ = runtime.block_on(ended);
            runtime.shutdown_background();
        })
        .context("cannot start the thread for the API server")?;
    Ok((handle, alive))
}

/// Whether this process runs in a pod.
pub(super) fn is_pod() -> bool {
    env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

/// Where `kubectl` looks for its configuration.
pub(super) fn places() -> Vec<PathBuf> {
    let named = env::var_os("KUBECONFIG").unwrap_or_default();
    let named: Vec<PathBuf> = env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
    if !named.is_empty() {
        return named;
    }
    env::home_dir().map(|home| home.join(".kube/config")).into_iter().collect()
}

/// An address as it may be shown.
fn without_user(url: &str) -> String {
    let url = url.trim_end_matches('/');
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => url.to_owned(),
    }
}

/// What goes wrong with the address of a test server fails the test.
#[expect(clippy::expect_used, reason = "tests alone call it")]
impl super::Cluster {
    /// A server without TLS, for tests of this crate and others: it is dead after so long a silence, and ends watches after a second.
    #[doc(hidden)]
    pub fn of_test(url: &str, silence: Duration) -> Self {
        let mut config = Config::new(url.parse().expect("a test's address is one"));
        config.read_timeout = Some(silence);
        let mut connection = Connection::to(config).expect("without TLS there is nothing to load");
        connection.watch_seconds = 1;
        Self::over(connection)
    }
}
