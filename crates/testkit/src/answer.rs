//! A response of the server.

use std::collections::BTreeMap;

use serde_json::Value;

/// An HTTP answer, read whole.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Method and path of the request, for messages of failed tests.
    pub request: String,
    pub status: u16,
    /// The headers, by lower-case name.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// A header that must be there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
    }

    pub(crate) async fn read(request: String, response: reqwest::Response) -> Self {
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| {
                (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect();
        Self {
            request,
            status: response.status().as_u16(),
            headers,
            body: response.bytes().await.unwrap().to_vec(),
        }
    }
}

/// This field of every item of a list.
#[track_caller]
pub fn texts(list: &Value, field: &str) -> Vec<String> {
    let items = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}
