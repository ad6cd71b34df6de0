//! The one way to a language model: an endpoint of the operator's own that speaks the
//! OpenAI-compatible `/chat/completions`, reached through `guard::net`.
//!
//! A [`Model`] is asked a [`Question`] and answers as it writes ([`Answering`]) or whole
//! ([`Model::answer`]). What comes back is bounded in bytes and in silence, and is the text of
//! somebody who may be wrong: whoever asks has to check it. Nothing is sent twice, and nobody is told
//! the key or what an endpoint said beside its answer: an [`Error`] shows its kind, and keeps the rest for the
//! operator.
//!
//! ```no_run
//! use llm::{Model, Question, Settings};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = Settings { base_url: Some("http://127.0.0.1:8080/v1".into()), ..Settings::default() };
//! let model = Model::new(&settings)?.ok_or("there is none")?;
//! let question = Question::new("Answer in one word.", "What is the capital of France?");
//! let mut answering = model.ask(&question, &CancellationToken::new()).await?;
//! while let Some(piece) = answering.next().await? {
//!     // `Par`, `is`
//! }
//! # Ok(())
//! # }
//! ```

mod answering;
mod diagnosis;
mod error;
mod message;
mod model;
mod question;
mod settings;

pub use answering::Answering;
pub use diagnosis::{Diagnosis, diagnose};
pub use error::Error;
pub use message::Finish;
pub use model::{Answer, Model};
pub use question::Question;
pub use settings::Settings;
