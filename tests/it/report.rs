//! The site, and what a pull request shows.

mod browser;
mod pull_requests;
mod site;
