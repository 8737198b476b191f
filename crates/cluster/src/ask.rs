//! Requests to the API server.

use kube::api::{DeleteParams, GetParams, ListParams, PostParams, Preconditions, Request};
use kube::client::Body;
use kube::{Client, Error};

use super::answer::Answer;

/// One request.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    Get { path: String },
    List { path: String, selector: String, limit: u32, next: Option<String> },
    Create { path: String, body: String },
    Delete { path: String, name: String, uid: String },
}

impl Ask {
    /// Whether the API server may take its time: admission webhooks have 30 seconds each.
    pub(super) fn is_write(&self) -> bool {
        matches!(self, Self::Create { .. } | Self::Delete { .. })
    }

    /// Sends it and reads the answer to its end.
    pub(super) async fn send(&self, client: &Client) -> Result<Answer, Error> {
        let request = match self {
            Self::Get { path } => Request::new("").get(path.trim_start_matches('/'), &GetParams::default()),
            Self::List { path, selector, limit, next } => {
                let mut params = ListParams::default().limit(*limit);
                params.label_selector = (!selector.is_empty()).then(|| selector.clone());
                params.continue_token.clone_from(next);
                Request::new(path).list(&params)
            }
            Self::Create { path, body } => match path.split_once('?') {
                Some((path, "dryRun=All")) => Request::new(path)
                    .create(&PostParams { dry_run: true, ..PostParams::default() }, body.clone().into_bytes()),
                _ => Request::new(path).create(&PostParams::default(), body.clone().into_bytes()),
            },
            Self::Delete { path, name, uid } => {
                // What the object owns goes before it, so that its absence proves theirs.
                let mut params = DeleteParams::foreground();
                params.preconditions = Some(Preconditions { uid: Some(uid.clone()), ..Preconditions::default() });
                Request::new(path).delete(name, &params)
            }
        };
        let answer = client.send(request.map_err(Error::BuildRequest)?.map(Body::from)).await?;
        let code = answer.status().as_u16();
        let wait = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = answer.into_body().collect_bytes().await?;
        Ok(Answer::new(code, wait, body.to_vec()))
    }
}
