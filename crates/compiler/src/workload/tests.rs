mod advise;
mod explain;
