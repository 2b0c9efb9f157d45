//! What the program writes: numbers and tables as text, JSON documents, files, a progress bar.

pub mod document;
pub mod file;
pub mod picture;
pub mod progress;
pub mod render;
