use std::collections::BTreeMap;

use super::{Composition, Experiment, Trial, TrialStatus, Workflow, WorkflowNode};

fn trial(name: String, best: bool) -> Trial {
    Trial {
        name,
        status: TrialStatus::Succeeded,
        best,
        parameters: BTreeMap::new(),
        metrics: Vec::new(),
        started_at: None,
        seconds: None,
        message: None,
        logs: Vec::new(),
    }
}

#[test]
fn what_a_result_has_no_room_for_is_counted_and_the_best_trial_stays() {
    let nodes = (0..700).map(|number| WorkflowNode { name: number.to_string(), ..WorkflowNode::default() });
    let trials = (0..600).map(|number| trial(number.to_string(), number == 599));
    let all = Composition {
        workflow: Some(Workflow { nodes: nodes.collect(), ..Workflow::default() }),
        experiment: Some(Experiment { trials: trials.collect(), ..Experiment::default() }),
    };
    let bounded = all.bounded();
    let (workflow, mut experiment) = (bounded.workflow.unwrap(), bounded.experiment.unwrap());
    assert_eq!((workflow.nodes.len(), workflow.left_out), (500, 200));
    assert_eq!((experiment.trials.len(), experiment.left_out), (500, 100));
    assert!(experiment.trials.iter().any(|trial| trial.best));
    assert_eq!(experiment.cut(10), 490);
    assert_eq!((experiment.trials.len(), experiment.left_out), (10, 590));
    assert!(experiment.trials[9].best && experiment.trials[8].name == "8");
}
