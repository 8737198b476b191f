//! Queries of Prometheus that are useful in every cluster, by name: what they select, their unit, and which direction is better.
//!
//! Each asks for the pods of the run by the labels `namespace` and `pod`. An exporter that measures for other pods than its
//! own has them from the kubelet; a scrape must keep them (`honorLabels: true`), else they are called `exported_…` and the
//! query selects nothing. The node exporter's series are those of the run's nodes by `instance`, which must be the node's name
//! with or without a port, as kube-prometheus relabels it.

use kubebench_format::spec::v1::metric::{Better, Reduce};

/// A named query.
#[derive(Debug)]
pub struct Preset {
    /// The name, which is that of the metric too unless the spec gives another.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    /// Who must be scraped.
    pub exporter: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// How the samples over the run's time become one.
    pub reduce: Reduce,
    /// PromQL, with the words of a run in it.
    pub query: &'static str,
}

const DCGM: &str = "dcgm-exporter";
const CADVISOR: &str = "kubelet (cAdvisor)";
const NODE: &str = "node exporter";
const VLLM: &str = "vLLM";
const TRITON: &str = "Triton Inference Server";
const TGI: &str = "Text Generation Inference";

/// All of them, by exporter.
///
/// Names and units of series: `dcgm-exporter/etc/default-counters.csv` (NVIDIA/dcgm-exporter), `pkg/kubelet/metrics` and
/// cAdvisor's `metrics/prometheus.go`, <https://docs.vllm.ai/en/latest/usage/metrics.html>, Triton's
/// `docs/user_guide/metrics.md`, <https://huggingface.co/docs/text-generation-inference/reference/metrics>.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "dcgm-gpu-utilization",
        about: "share of the time in which a kernel ran on the GPUs, averaged over the GPUs",
        exporter: DCGM,
        unit: "%",
        better: Better::Higher,
        reduce: Reduce::Mean,
        query: "avg(DCGM_FI_DEV_GPU_UTIL{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "dcgm-tensor-active",
        about: "share of the cycles in which the tensor cores worked, averaged over the GPUs",
        exporter: DCGM,
        unit: "%",
        better: Better::Higher,
        reduce: Reduce::Mean,
        query: "100 * avg(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "dcgm-dram-active",
        about: "share of the cycles in which the GPUs' memory moved data, averaged over the GPUs",
        exporter: DCGM,
        unit: "%",
        better: Better::Higher,
        reduce: Reduce::Mean,
        query: "100 * avg(DCGM_FI_PROF_DRAM_ACTIVE{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "dcgm-memory-used",
        about: "memory in use on the fullest GPU",
        exporter: DCGM,
        unit: "MiB",
        better: Better::Lower,
        reduce: Reduce::Max,
        query: "max(DCGM_FI_DEV_FB_USED{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "dcgm-power",
        about: "power of all GPUs together",
        exporter: DCGM,
        unit: "W",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "sum(DCGM_FI_DEV_POWER_USAGE{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "dcgm-energy",
        about: "energy that all GPUs together used during the run",
        exporter: DCGM,
        unit: "J",
        better: Better::Lower,
        reduce: Reduce::Last,
        query: "sum(increase(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{namespace=\"$namespace\",pod=~\"$pods\"}[$duration])) / 1000",
    },
    Preset {
        name: "dcgm-temperature",
        about: "temperature of the hottest GPU",
        exporter: DCGM,
        unit: "°C",
        better: Better::Lower,
        reduce: Reduce::Max,
        query: "max(DCGM_FI_DEV_GPU_TEMP{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "dcgm-sm-clock",
        about: "clock of the slowest GPU, which throttling lowers",
        exporter: DCGM,
        unit: "MHz",
        better: Better::Higher,
        reduce: Reduce::Min,
        query: "min(DCGM_FI_DEV_SM_CLOCK{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "dcgm-xid-errors",
        about: "the last XID error code of any GPU; 0 without one",
        exporter: DCGM,
        unit: "1",
        better: Better::Lower,
        reduce: Reduce::Max,
        query: "max(DCGM_FI_DEV_XID_ERRORS{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "container-cpu",
        about: "processors in use by all containers together",
        exporter: CADVISOR,
        unit: "cores",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "sum(rate(container_cpu_usage_seconds_total{namespace=\"$namespace\",pod=~\"$pods\",container!=\"\",container!=\"POD\"}[1m]))",
    },
    Preset {
        name: "container-cpu-throttled",
        about: "share of the scheduling periods in which a container was throttled by its limit",
        exporter: CADVISOR,
        unit: "%",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "100 * sum(rate(container_cpu_cfs_throttled_periods_total{namespace=\"$namespace\",pod=~\"$pods\",container!=\"\"}[1m])) / sum(rate(container_cpu_cfs_periods_total{namespace=\"$namespace\",pod=~\"$pods\",container!=\"\"}[1m]))",
    },
    Preset {
        name: "container-memory",
        about: "memory that cannot be reclaimed, of the largest pod",
        exporter: CADVISOR,
        unit: "B",
        better: Better::Lower,
        reduce: Reduce::Max,
        query: "max(sum by (pod) (container_memory_working_set_bytes{namespace=\"$namespace\",pod=~\"$pods\",container!=\"\",container!=\"POD\"}))",
    },
    Preset {
        name: "container-network-received",
        about: "bytes a second that all pods together received",
        exporter: CADVISOR,
        unit: "B/s",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "sum(rate(container_network_receive_bytes_total{namespace=\"$namespace\",pod=~\"$pods\"}[1m]))",
    },
    Preset {
        name: "container-network-sent",
        about: "bytes a second that all pods together sent",
        exporter: CADVISOR,
        unit: "B/s",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "sum(rate(container_network_transmit_bytes_total{namespace=\"$namespace\",pod=~\"$pods\"}[1m]))",
    },
    Preset {
        name: "node-cpu",
        about: "share of the processors in use on the nodes of the run, by any process, averaged over the nodes",
        exporter: NODE,
        unit: "%",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "100 * (1 - avg(rate(node_cpu_seconds_total{mode=\"idle\",instance=~\"($nodes)(:[0-9]+)?\"}[1m])))",
    },
    Preset {
        name: "node-load",
        about: "load of the busiest node of the run over its number of processors",
        exporter: NODE,
        unit: "1",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "max(node_load1{instance=~\"($nodes)(:[0-9]+)?\"} / on (instance) count by (instance) (node_cpu_seconds_total{mode=\"idle\",instance=~\"($nodes)(:[0-9]+)?\"}))",
    },
    Preset {
        name: "node-memory-available",
        about: "memory that is left on the fullest node of the run",
        exporter: NODE,
        unit: "B",
        better: Better::Higher,
        reduce: Reduce::Min,
        query: "min(node_memory_MemAvailable_bytes{instance=~\"($nodes)(:[0-9]+)?\"})",
    },
    Preset {
        name: "node-disk-written",
        about: "bytes a second that the nodes of the run together wrote to disks, for any process",
        exporter: NODE,
        unit: "B/s",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "sum(rate(node_disk_written_bytes_total{instance=~\"($nodes)(:[0-9]+)?\"}[1m]))",
    },
    Preset {
        name: "vllm-generation-tokens",
        about: "tokens a second that were generated",
        exporter: VLLM,
        unit: "tokens/s",
        better: Better::Higher,
        reduce: Reduce::Mean,
        query: "sum(rate(vllm:generation_tokens_total{namespace=\"$namespace\",pod=~\"$pods\"}[1m]))",
    },
    Preset {
        name: "vllm-time-to-first-token-p99",
        about: "99th percentile of the time to the first token",
        exporter: VLLM,
        unit: "s",
        better: Better::Lower,
        reduce: Reduce::Last,
        query: "histogram_quantile(0.99, sum by (le) (increase(vllm:time_to_first_token_seconds_bucket{namespace=\"$namespace\",pod=~\"$pods\"}[$duration])))",
    },
    Preset {
        name: "vllm-request-latency-p99",
        about: "99th percentile of the time from a request to its last token",
        exporter: VLLM,
        unit: "s",
        better: Better::Lower,
        reduce: Reduce::Last,
        query: "histogram_quantile(0.99, sum by (le) (increase(vllm:e2e_request_latency_seconds_bucket{namespace=\"$namespace\",pod=~\"$pods\"}[$duration])))",
    },
    Preset {
        name: "vllm-requests-waiting",
        about: "requests that wait for a place in a batch",
        exporter: VLLM,
        unit: "requests",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "sum(vllm:num_requests_waiting{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
    Preset {
        name: "triton-inferences",
        about: "inferences a second",
        exporter: TRITON,
        unit: "inferences/s",
        better: Better::Higher,
        reduce: Reduce::Mean,
        query: "sum(rate(nv_inference_count{namespace=\"$namespace\",pod=~\"$pods\"}[1m]))",
    },
    Preset {
        name: "triton-request-latency",
        about: "mean time from a request to its answer, in the server",
        exporter: TRITON,
        unit: "us",
        better: Better::Lower,
        reduce: Reduce::Last,
        query: "sum(increase(nv_inference_request_duration_us{namespace=\"$namespace\",pod=~\"$pods\"}[$duration])) / sum(increase(nv_inference_request_success{namespace=\"$namespace\",pod=~\"$pods\"}[$duration]))",
    },
    Preset {
        name: "triton-queue-time",
        about: "mean time that a request waited for its model",
        exporter: TRITON,
        unit: "us",
        better: Better::Lower,
        reduce: Reduce::Last,
        query: "sum(increase(nv_inference_queue_duration_us{namespace=\"$namespace\",pod=~\"$pods\"}[$duration])) / sum(increase(nv_inference_request_success{namespace=\"$namespace\",pod=~\"$pods\"}[$duration]))",
    },
    Preset {
        name: "tgi-generated-tokens",
        about: "tokens a second that were generated",
        exporter: TGI,
        unit: "tokens/s",
        better: Better::Higher,
        reduce: Reduce::Mean,
        query: "sum(rate(tgi_request_generated_tokens_sum{namespace=\"$namespace\",pod=~\"$pods\"}[1m]))",
    },
    Preset {
        name: "tgi-request-latency-p99",
        about: "99th percentile of the time from a request to its last token",
        exporter: TGI,
        unit: "s",
        better: Better::Lower,
        reduce: Reduce::Last,
        query: "histogram_quantile(0.99, sum by (le) (increase(tgi_request_duration_bucket{namespace=\"$namespace\",pod=~\"$pods\"}[$duration])))",
    },
    Preset {
        name: "tgi-queue-size",
        about: "requests that wait for a place in a batch",
        exporter: TGI,
        unit: "requests",
        better: Better::Lower,
        reduce: Reduce::Mean,
        query: "sum(tgi_queue_size{namespace=\"$namespace\",pod=~\"$pods\"})",
    },
];

/// Returns the preset `name`.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
