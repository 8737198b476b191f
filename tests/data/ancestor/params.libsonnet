{
  global: {
    // User-defined global parameters
  },
  components: {
    // Component-level parameters
    "kubebench-job": {
      name: "bench",
      namespace: "null",
      mainJobConfig: "tf-cnn/tf-cnn-dummy.yaml",
      mainJobKsPrototype: "kubebench-example-tfcnn",
      experimentConfigPvc: "kubebench-config-pvc",
      experimentDataPvc: "data",
      experimentRecordPvc: "kubebench-exp-pvc",
      postJobImage: "gcr.io/xyhuang-kubeflow/kubebench-example-tfcnn-postprocessor:v20180909-1",
      postJobArgs: "null",
      reporterType: "csv",
      csvReporterInput: "result.json",
      csvReporterOutput: "report.csv",
    },
  },
}
