//! The part of a path that names a thing.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
    response::Response,
};
use serde::de::DeserializeOwned;

use crate::rest;

/// The part of a path that names something. Bytes that are no text name nothing, and are answered like every
/// other name that nobody has.
pub(crate) struct PathName<T>(pub T);

impl<S, T> FromRequestParts<S> for PathName<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Send,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(named)) => Ok(Self(named)),
            Err(rejection) => Err(rest::unreadable_path(&rejection)),
        }
    }
}
