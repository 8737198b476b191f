//! A Kubernetes cluster: what the API server says, and what it is asked to do.
//!
//! A blocking face over one thread of asynchronous work. What is watched comes into the one channel of whoever waits.
