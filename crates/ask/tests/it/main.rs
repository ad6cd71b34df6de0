//! Questions through a whole gate, with a scripted model on the other side of a real socket.

#![allow(clippy::unwrap_used)] // A panic is the message.

mod cases;
mod clarifications;
mod faults;
mod fixture;
mod injected;
mod limits;
mod plans;
mod summaries;
mod traces;
