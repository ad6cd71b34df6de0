//! The MCP doors.

mod library;

pub use library::{EmptyLibrary, Library, LibraryError};
