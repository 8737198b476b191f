//! Answers as people read them.
