//! Runs against a real gate and a scripted endpoint.
