//! The files that examples of specs name, to start from.

const NOTEBOOK: &str = r#"{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": null,
   "metadata": {"tags": ["parameters"]},
   "outputs": [],
   "source": ["epochs = 1"]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "metadata": {},
   "outputs": [],
   "source": ["print(\"throughput: 42.0\")"]
  }
 ],
 "metadata": {
  "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
 },
 "nbformat": 4,
 "nbformat_minor": 4
}
"#;

const WORKFLOW: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: train-
spec:
  entrypoint: train
  arguments:
    parameters:
      - name: epochs
        value: \"1\"
  templates:
    - name: train
      container:
        image: docker.io/library/busybox:1.37.0
        command: [echo]
        args: [\"throughput: 42.0\", \"{{workflow.parameters.epochs}} epochs\"]
        resources:
          requests: {cpu: \"1\", memory: 1Gi}
          limits: {cpu: \"1\", memory: 1Gi}
";

/// Returns the files that the example of a kind names, by their paths below the project's root.
pub fn files_of(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind.to_ascii_lowercase().as_str() {
        "notebook" => &[("notebooks/train.ipynb", NOTEBOOK)],
        "workflow" => &[("pipelines/train.yaml", WORKFLOW)],
        _ => &[],
    }
}
