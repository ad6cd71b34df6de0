//! Everything that describes a tool to somebody else, made from its contract.

pub mod descriptor;
pub mod markdown;
pub mod mcp;
pub mod openapi;
