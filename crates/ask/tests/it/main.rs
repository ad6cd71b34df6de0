//! Questions through a whole gate, with a scripted model on the other side of a real socket.

mod cases;
mod faults;
mod hall;
mod injected;
mod limits;
mod plans;
mod summaries;
mod traces;
