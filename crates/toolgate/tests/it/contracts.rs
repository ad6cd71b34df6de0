//! Contracts from anywhere: judged, compared, exported, and proposed from results.

mod documents;
mod infer;
mod sources;
