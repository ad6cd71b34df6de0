//! The helper that this crate's tests give to `Spawner::new`: a program that can supervise and
//! nothing else. The real binary does the same in the first line of its `main`.

fn main() {
    guard::process::supervise_if_asked();
    // Reached only when a person starts it by hand.
    std::process::exit(2);
}
