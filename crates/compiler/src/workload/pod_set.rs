//! The pods of one role of a workload, as its object says them.

use crate::model::TemplateForm;

/// The pods of one role, as the object of a kind says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSet {
    /// The role, as in the label of its pods.
    pub role: String,
    /// How many there are at once; 0 where nothing says it before.
    pub replicas: u32,
    /// How many of them one Job numbers, where the pods of the next Job begin from 0 again; 0 where nothing numbers them.
    pub completions: u32,
    /// The JSON Pointer to what describes them.
    pub template: String,
    /// How.
    pub form: TemplateForm,
}

impl PodSet {
    /// Returns pods that the pod template at `template` describes.
    pub fn new(role: impl Into<String>, replicas: u32, completions: u32, template: impl Into<String>) -> Self {
        let (role, template) = (role.into(), template.into());
        Self { role, replicas, completions, template, form: TemplateForm::Template }
    }

    /// Returns the same pods, for an object at `place` of another.
    pub(super) fn below(self, place: &str) -> Self {
        let form = match self.form {
            TemplateForm::Template => TemplateForm::Template,
            TemplateForm::Pod { metadata, container } => TemplateForm::Pod {
                metadata: format!("{place}{metadata}"),
                container: container.map(|container| format!("{place}{container}")),
            },
        };
        Self { template: format!("{place}{}", self.template), form, ..self }
    }

    /// Returns the JSON Pointer to their `spec`.
    pub fn pod(&self) -> String {
        self.form.pod(&self.template)
    }
}
