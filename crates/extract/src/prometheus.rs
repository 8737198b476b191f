//! Range queries of the Prometheus HTTP API
//! (<https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries>): the address, and the values of an answer.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;

use super::number;

/// The most points that a server gives for one series is 11,000.
const MAX_POINTS: f64 = 10_000.0;
/// Characters that are percent-encoded in the query part of an address (RFC 3986: all but unreserved characters).
const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Returns `query` with `$namespace`, `$pods` and `$nodes` as those of a run in a cluster: the pods of a job begin with its
/// name. Both lists are regular expressions, without a backslash, which a string of PromQL would have to double.
pub fn of_cluster(query: &str, namespace: &str, job: &str, nodes: &[String]) -> String {
    let nodes = nodes.join("|").replace('.', "[.]");
    query.replace("$namespace", namespace).replace("$pods", &format!("{job}(-.*)?")).replace("$nodes", &nodes)
}

/// Returns `query` with `$duration` as the time between two moments in seconds: that of a counter's increase over a run.
pub fn over_time(query: &str, start: f64, end: f64) -> String {
    query.replace("$duration", &format!("{:.0}s", (end - start).ceil().max(1.0)))
}

/// Returns the address of a range query over a run's time, in seconds since the Unix epoch.
///
/// The step is a second, or what keeps a long run below the server's limit of points.
pub fn range_url(server: &str, query: &str, start: f64, end: f64) -> String {
    let step = ((end - start) / MAX_POINTS).ceil().max(1.0);
    let server = server.trim_end_matches('/');
    // A run that is shorter than a step still has its start.
    format!(
        "{server}/api/v1/query_range?query={}&start={start:.3}&end={:.3}&step={step}",
        utf8_percent_encode(query, &RESERVED),
        end.max(start)
    )
}

/// Returns the values of an answer: of each series in the order of time, series by series.
///
/// # Errors
/// The server's error, or why there is no value.
pub fn values(answer: &str) -> Result<Vec<f64>, String> {
    let root: Json =
        serde_json::from_str(answer).map_err(|error| format!("Prometheus did not answer with JSON: {error}"))?;
    let text = |key| root.get(key).and_then(Json::as_str).unwrap_or_default();
    if text("status") != "success" {
        return Err(format!("Prometheus refused the query: {} {}", text("errorType"), text("error")));
    }
    let result = root.pointer("/data/result").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let points = result.iter().flat_map(|series| {
        let of = |key| series.get(key).and_then(Json::as_array).cloned();
        of("values").unwrap_or_else(|| of("value").map(|value| vec![Json::Array(value)]).unwrap_or_default())
    });
    let number = |point: Json| point.get(1).and_then(Json::as_str).and_then(|text| number::parse(text).ok());
    let found: Vec<f64> = points.map(|point| number(point).unwrap_or(f64::NAN)).collect();
    if found.is_empty() {
        return Err("the query gave no sample over the run's time; is the series scraped often enough?".to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{range_url, values};

    #[test]
    fn addresses() {
        assert_eq!(
            range_url("http://p:9090/", "avg(x{a=\"b c\"}) + 1", 1.5, 4.0),
            "http://p:9090/api/v1/query_range?query=avg%28x%7Ba%3D%22b%20c%22%7D%29%20%2B%201&start=1.500&end=4.000&step=1"
        );
        assert!(range_url("http://p", "x", 0.0, 100_000.0).ends_with("&step=10"));
    }

    #[test]
    fn answers() {
        let matrix = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"1.5"],[2,"NaN"]]},{"metric":{},"values":[[1,"3"]]}]}}"#;
        let found = values(matrix).unwrap();
        assert_eq!(format!("{found:?}"), "[1.5, NaN, 3.0]");
        let empty = r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#;
        assert!(values(empty).is_err_and(|reason| reason.contains("no sample")));
        let refused = r#"{"status":"error","errorType":"bad_data","error":"invalid parameter \"query\""}"#;
        assert!(values(refused).is_err_and(|reason| reason.contains("bad_data invalid parameter")));
        assert!(values("<html>").is_err());
    }
}
