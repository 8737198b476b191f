//! What a Prometheus server has of the time of a run.

use kubebench_extract::prometheus;

/// Returns the values of `query` over `window`, in seconds since the Unix epoch, by the target's `server`, whose addresses `get` reads.
///
/// # Errors
/// Why there are none, for people.
pub(crate) fn range_query(
    server: Option<&str>,
    query: &str,
    window: (f64, f64),
    get: impl FnOnce(&str) -> Result<String, String>,
) -> Result<Vec<f64>, String> {
    let Some(server) = server else {
        return Err("the target has no Prometheus: set `prometheus.url` in kubebench.yaml".to_owned());
    };
    let (start, end) = window;
    let query = prometheus::over_time(query, start, end);
    prometheus::values(&get(&prometheus::range_url(server, &query, start, end))?)
}
