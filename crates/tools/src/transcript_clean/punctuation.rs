//! Asks the model for the punctuation of a transcript, one chunk at a time, and reports progress.

use gate::RunningCall;
use llm::{ChatPrompt, Error, Finish, Model};
use transcript::{
    CleanTranscript,
    punctuation::{ModelCounts, PartialAnswer, Punctuator},
};

/// The least progress that is worth reporting, as a part of the whole.
const MIN_PROGRESS: f64 = 0.01;

/// Adds punctuation to a text that the rules have cleaned. The first failure of the endpoint ends it.
pub(super) async fn add(
    transcript: CleanTranscript,
    model: &Model,
    max_chunk_characters: usize,
    call: &RunningCall,
) -> Result<(CleanTranscript, ModelCounts), Error> {
    let mut punctuator = Punctuator::new(transcript, max_chunk_characters);
    let (chunks, mut chunk) = (punctuator.prompts(), 0);
    while let Some(prompt) = punctuator.next_prompt() {
        chunk += 1;
        let mut reported = f64::NEG_INFINITY;
        let mut report = |answered_bytes: usize| {
            let fraction = punctuator.fraction(answered_bytes);
            if call.is_watched() && fraction - reported >= MIN_PROGRESS {
                reported = fraction;
                call.progress(Some(fraction), &format!("chunk {chunk} of {chunks}"));
            }
        };
        report(0);
        let question = ChatPrompt {
            temperature: Some(0.0),
            max_tokens: Some(prompt.max_tokens),
            ..ChatPrompt::new(&prompt.system, prompt.user.clone())
        };
        let mut answer = PartialAnswer::new(&prompt);
        let mut stream = model.ask(&question, &call.stop).await?;
        while let Some(more) = stream.next().await?
            && answer.push(&more)
        {
            report(answer.answered_bytes());
        }
        // Dropping the stream of an answer that is too long closes its connection.
        punctuator.accept(&answer, stream.finish() == Some(Finish::Length));
    }
    Ok(punctuator.finish())
}
