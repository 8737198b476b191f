//! Where a server answers, and whether it does.

use serde_json::Value as Json;

use kubebench_cluster::{Cluster, Resource};
use kubebench_compiler::model::{Endpoint, Probe, Served};
use kubebench_contract::text_at;
use kubebench_host::http;

/// Returns the address of the server that is `object`: scheme, host and port.
///
/// # Errors
/// Why there is none, or none yet.
pub(super) fn of(cluster: &Cluster, namespace: &str, served: &Served, object: &Json) -> Result<String, String> {
    match &served.endpoint {
        Endpoint::Service { suffix, port } => {
            let name = format!("{}{suffix}", text_at(object, "/metadata/name"));
            match port {
                Some(port) => Ok(format!("http://{name}.{namespace}.svc:{port}")),
                None => of_service(cluster, namespace, &name),
            }
        }
        Endpoint::Shared { name, port } => Ok(format!("http://{name}.{namespace}.svc:{port}")),
        Endpoint::Status { at } => {
            let said = at.iter().map(|at| text_at(object, at)).find(|address| !address.is_empty());
            let missing = || format!("its status has no address ({})", at.join(", "));
            said.map(|address| address.trim_end_matches('/').to_owned()).ok_or_else(missing)
        }
    }
}

/// Asks the Service called `name` for its port. Without an address of its own it leads to the pods, whose port is another.
fn of_service(cluster: &Cluster, namespace: &str, name: &str) -> Result<String, String> {
    let service = cluster.get(&Resource::services(), namespace, name).map_err(|fault| fault.to_string())?;
    let service = service.ok_or_else(|| format!("there is no Service `{name}`"))?;
    let ports = service.pointer("/spec/ports").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_http = |port: &&Json| text_at(port, "/name").starts_with("http");
    let port = ports.iter().find(is_http).or(ports.first());
    let port = port.ok_or_else(|| format!("the Service `{name}` has no port"))?;
    let is_headless = text_at(&service, "/spec/clusterIP") == "None";
    let number = |field: &str| port.get(field).and_then(Json::as_u64);
    let number = number("targetPort").filter(|_| is_headless).or(number("port"));
    let number = number.ok_or_else(|| format!("the port of the Service `{name}` has no number"))?;
    let is_tls = [text_at(port, "/name"), text_at(port, "/appProtocol")].iter().any(|said| said.contains("https"));
    Ok(format!("{}://{name}.{namespace}.svc:{number}", if is_tls { "https" } else { "http" }))
}

/// Asks the server called `name` at `endpoint` what it is to be asked.
///
/// # Errors
/// What came instead of success.
pub(super) fn ask(endpoint: &str, served: &Served, name: &str) -> Result<(), String> {
    match &served.probe {
        Probe::Http { path } => http::probe(&format!("{endpoint}{path}"), None),
        Probe::HttpOfModel { before, after, header } => {
            let header = header.as_deref().map(|header| (header, name));
            http::probe(&format!("{endpoint}{before}{name}{after}"), header)
        }
        Probe::Tcp => http::connect(endpoint),
    }
}
