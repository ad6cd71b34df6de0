//! The one way to a language model: an endpoint of the operator's own that speaks the
//! OpenAI-compatible `/chat/completions`, reached through `guard::net`.
//!
//! A [`Model`] is asked a [`ChatPrompt`] and answers as it writes ([`ReplyStream`]) or whole
//! ([`Model::answer`]). What comes back is bounded in bytes and in silence, and is the text of
//! somebody who may be wrong: whoever asks has to check it. Nothing is sent twice, and nobody is told
//! the key or what an endpoint said beside its answer: an [`Error`] shows its kind, and keeps the rest for the
//! operator.
//!
//! Each request has a connection of its own: a connection that is kept may close at the moment of its next use, and then nobody
//! knows whether the request was received. A stream and a whole reply are told apart by the bytes that come, not by the
//! headers. Dropping a reply closes its connection, and the endpoint stops generating.
//!
//! ```no_run
//! use llm::{Model, ChatPrompt, LlmSettings};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = LlmSettings { base_url: Some("http://127.0.0.1:8080/v1".into()), ..LlmSettings::default() };
//! let model = Model::new(&settings)?.ok_or("there is none")?;
//! let prompt = ChatPrompt::new("Answer in one word.", "What is the capital of France?");
//! let mut reply = model.ask(&prompt, &CancellationToken::new()).await?;
//! while let Some(piece) = reply.next().await? {
//!     // `Par`, `is`
//! }
//! # Ok(())
//! # }
//! ```

mod diagnosis;
mod error;
mod message;
mod model;
mod prompt;
mod reply_stream;
mod settings;

pub use diagnosis::{Diagnosis, diagnose};
pub use error::Error;
pub use message::Finish;
pub use model::{ChatReply, Model};
pub use prompt::ChatPrompt;
pub use reply_stream::ReplyStream;
pub use settings::LlmSettings;
