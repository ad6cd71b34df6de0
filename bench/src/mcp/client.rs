//! A client over Streamable HTTP that does nothing but call one tool.

use anyhow::ensure;

use super::{
    answer,
    message::{self, McpVersion, Numbered},
};
use crate::http::Connection;

/// A client with a connection, and in the legacy version a session, of its own.
pub struct McpClient {
    connection: Connection,
    port: u16,
    /// Headers of the session, empty where there is none.
    session: String,
    call: Numbered,
}

impl McpClient {
    /// Connects, does what the version asks for, and makes a first call that must be answered well.
    pub async fn open(port: u16, version: McpVersion, tool: &str) -> anyhow::Result<Self> {
        let mut connection = Connection::open(port).await?;
        let (headers, session) = match version {
            McpVersion::Modern => (modern_headers("tools/call", Some(tool)), String::new()),
            McpVersion::Legacy => {
                let session = initialize(&mut connection, port).await?;
                (session.clone(), session)
            }
        };
        let call = Numbered::new(post(port, &headers, &message::call(version, tool)));
        let mut client = Self { connection, port, session, call };
        let answer = client.connection.exchange(client.call.next()).await?;
        answer::expect_echo(&answer::message(&answer)?, client.call.id())?;
        Ok(client)
    }

    /// Calls, and tells whether the answer looks good.
    pub async fn call(&mut self) -> anyhow::Result<bool> {
        let answer = self.connection.exchange(self.call.next()).await?;
        Ok(answer.status == 200 && answer::looks_like_the_echo(answer.body, self.call.digits()))
    }

    /// Ends the session, so that no server carries the sessions of one round into the next.
    /// A server may refuse that, and what it says does not matter any more.
    pub async fn close(mut self) -> anyhow::Result<()> {
        if self.session.contains("Mcp-Session-Id") {
            let request = format!(
                "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n",
                self.port, self.session
            );
            self.connection.exchange(request.as_bytes()).await?;
        }
        Ok(())
    }
}

/// Opens a session, and gives the headers of every request in it. A server may do without
/// sessions; then there is only the version to be named.
async fn initialize(connection: &mut Connection, port: u16) -> anyhow::Result<String> {
    let answer = connection.exchange(&post(port, "", &message::initialize())).await?;
    let session = answer.header("mcp-session-id").map(str::to_owned);
    let version = answer::expect_version(&answer::message(&answer)?)?;
    let mut headers = format!("MCP-Protocol-Version: {version}\r\n");
    if let Some(session) = session {
        headers += &format!("Mcp-Session-Id: {session}\r\n");
    }
    let request = post(port, &headers, message::INITIALIZED);
    let answer = connection.exchange(&request).await?;
    ensure!(answer.status == 202, "`initialized` was answered with {}", answer.status);
    Ok(headers)
}

/// The headers that repeat what the body of a modern request says.
pub fn modern_headers(method: &str, name: Option<&str>) -> String {
    let mut headers = format!(
        "MCP-Protocol-Version: {}\r\nMcp-Method: {method}\r\n",
        McpVersion::Modern.version()
    );
    if let Some(name) = name {
        headers += &format!("Mcp-Name: {name}\r\n");
    }
    headers
}

/// A message as a whole request.
pub fn post(port: u16, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
