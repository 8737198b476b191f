//! `kubebench export`: which results go out, what arrives in each format, and what real readers make of it.

mod choice;
mod documented;
mod judges;
mod made;
mod notebook;
mod read_back;
mod rebuilt;
mod texts;
