//! The endpoint: where it is, and what is sent to it.

use std::time::Duration;

use guard::net::{
    Bytes, HeaderName, HeaderValue, Method, NetError, ServiceClient, ServiceRequest,
    ServiceResponse, ServiceSettings, Url, header,
};
use tokio_util::sync::CancellationToken;

use crate::{ChatPrompt, Error, Finish, LlmSettings, ReplyStream, reply_stream::ReplyLimits};

/// A language model. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Model {
    completions: ServiceClient,
    models: ServiceClient,
    settings: LlmSettings,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatReply {
    pub text: String,
    /// Why it ends, where the endpoint says so.
    pub finish: Option<Finish>,
}

impl Model {
    /// The model, nothing where the settings name none, or what is wrong with them. Nothing is opened before
    /// it is asked.
    pub fn new(settings: &LlmSettings) -> Result<Option<Self>, Error> {
        let Some(base_url) = &settings.base_url else { return Ok(None) };
        let wrong = |problem: String| Error::NotConfigured(format!("llm.base_url: {problem}"));
        let mut base = Url::parse(base_url).map_err(|error| wrong(error.to_string()))?;
        if base.path() == "/" {
            base.set_path("/v1");
        }
        let base = base.as_str().trim_end_matches('/');
        let completions = Url::parse(&format!("{base}/chat/completions"))
            .map_err(|error| wrong(error.to_string()))?;
        let service = ServiceSettings {
            connect_timeout: Duration::from_millis(settings.connect_timeout_ms),
            // A connection that is kept may be closed by the other side at the moment when it is used
            // again, and nothing is sent twice. Beside an answer a new one costs nothing.
            max_idle_connections: 0,
            extra_ca: settings.extra_ca.clone(),
            ..ServiceSettings::default()
        };
        let completions = ServiceClient::new(&completions, &[], &service)
            .map_err(|error| wrong(error.to_string()))?;
        let models =
            completions.at(&format!("{base}/models")).map_err(|error| wrong(error.to_string()))?;
        Ok(Some(Self { completions, models, settings: settings.clone() }))
    }

    /// Its name, where the settings have one.
    pub fn name(&self) -> Option<&str> {
        self.settings.model.as_deref()
    }

    /// Asks, and returns when the endpoint begins to answer.
    pub async fn ask(
        &self,
        question: &ChatPrompt,
        stop: &CancellationToken,
    ) -> Result<ReplyStream, Error> {
        self.send(question, true, stop).await
    }

    /// Asks, and waits for all of the answer.
    pub async fn answer(
        &self,
        question: &ChatPrompt,
        stop: &CancellationToken,
    ) -> Result<ChatReply, Error> {
        let mut answering = self.send(question, false, stop).await?;
        let mut text = String::new();
        while let Some(piece) = answering.next().await? {
            text.push_str(&piece);
        }
        Ok(ChatReply { text, finish: answering.finish() })
    }

    /// The endpoint's list of models, as it sends it.
    pub(crate) async fn models(&self, stop: &CancellationToken) -> Result<Bytes, Error> {
        let answer = self.exchange(&self.models, Method::GET, Bytes::new(), stop).await?;
        let limit = self.settings.max_answer_bytes;
        answer.body.read_all(limit).await.map_err(|error| self.failed(error, true))
    }

    async fn send(
        &self,
        question: &ChatPrompt,
        stream: bool,
        stop: &CancellationToken,
    ) -> Result<ReplyStream, Error> {
        let body = question.body(self.settings.model.as_deref(), stream);
        let sent = self.exchange(&self.completions, Method::POST, body.into(), stop);
        let limits = ReplyLimits {
            max_bytes: self.settings.max_answer_bytes,
            stall_ms: self.settings.stall_timeout_ms,
        };
        Ok(ReplyStream::new(sent.await?.body, limits, stop.clone()))
    }

    /// A request, to the head of an answer that is none of failure.
    async fn exchange(
        &self,
        service: &ServiceClient,
        method: Method,
        body: Bytes,
        stop: &CancellationToken,
    ) -> Result<ServiceResponse, Error> {
        let mut extra: Vec<(HeaderName, HeaderValue)> = vec![
            (header::ACCEPT, HeaderValue::from_static("text/event-stream, application/json")),
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ];
        if let Some(name) = &self.settings.api_key_env {
            extra.push((header::AUTHORIZATION, key(name)?));
        }
        let request = ServiceRequest {
            method,
            headers: service.headers(),
            extra: &extra,
            body,
            timeout: Duration::from_millis(self.settings.stall_timeout_ms),
        };
        let answer = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Error::Cancelled),
            answer = service.send(&request) => answer.map_err(|error| self.failed(error, false))?,
        };
        if answer.status.is_success() {
            return Ok(answer);
        }
        let retry_after = answer.headers.get(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let status = answer.status.as_u16();
        // What it says of it is not read: some repeat the question, and even the key.
        Err(Error::Status { status, retry_after })
    }

    fn failed(&self, error: NetError, answered: bool) -> Error {
        Error::of_net(error, self.settings.stall_timeout_ms, answered)
    }
}

/// The header with the key that this variable holds.
fn key(name: &str) -> Result<HeaderValue, Error> {
    let wrong = |problem: &str| {
        let message = format!("the environment variable `{name}` (llm.api_key_env) {problem}");
        Error::NotConfigured(message)
    };
    let key = guard::variables::get(name).unwrap_or_default();
    let key = key.trim();
    if key.is_empty() {
        return Err(wrong("is not set"));
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| wrong("holds characters that no key has"))?;
    value.set_sensitive(true);
    Ok(value)
}
