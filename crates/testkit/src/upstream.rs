//! A service that a tool asks, on a port of its own, which says exactly the bytes that a test wants.
//!
//! It runs on threads, so that it answers also while a test waits for a program.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    time::Duration,
};

/// A request, read whole.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `GET`, `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The head, as it came.
    pub head: String,
    /// The body.
    pub body: String,
}

/// What is done after a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// These bytes, and the end.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing more, for as long as the other side waits.
    Stall(Vec<u8>),
    /// The first bytes, and then the second ones again and again, with a pause before each.
    Endless(Vec<u8>, Vec<u8>, Duration),
}

impl Reply {
    /// A whole answer with a body.
    pub fn new(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let head = format!(
            "HTTP/1.1 {status} -\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            body.len()
        );
        Self::Bytes([head.as_bytes(), body].concat())
    }

    /// JSON.
    pub fn json(status: u16, body: impl std::fmt::Display) -> Self {
        Self::new(status, "application/json", body.to_string())
    }
}

type Script = dyn Fn(&Asked) -> Reply + Send + Sync;

/// A service that answers by a script.
pub struct Upstream {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    script: Arc<Mutex<Arc<Script>>>,
}

impl Upstream {
    /// A service that gives every request the same reply.
    pub fn saying(reply: Reply) -> Self {
        Self::new(move |_| reply.clone())
    }

    /// A service that looks at the request first.
    pub fn new(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let script: Arc<Script> = Arc::new(script);
        let service = Self {
            port: listener.local_addr().unwrap().port(),
            asked: Arc::default(),
            script: Arc::new(Mutex::new(script)),
        };
        let (asked, script) = (service.asked.clone(), service.script.clone());
        // It ends with the test's process: nobody else knows its port.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, script) = (asked.clone(), script.clone());
                std::thread::spawn(move || {
                    // The other side may go at any time.
                    let _ = answer(stream, &asked, &script);
                });
            }
        });
        service
    }

    /// Says something else from now on.
    pub fn say(&self, reply: Reply) {
        *self.script.lock().unwrap() = Arc::new(move |_: &Asked| reply.clone());
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it was asked until now.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(
    stream: TcpStream,
    asked: &Mutex<Vec<Asked>>,
    script: &Mutex<Arc<Script>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let request = read(&mut reader)?;
    asked.lock().unwrap().push(request.clone());
    let script = script.lock().unwrap().clone();
    let reply = script(&request);
    let mut stream = reader.into_inner();
    match reply {
        Reply::Bytes(bytes) => stream.write_all(&bytes),
        Reply::Stall(bytes) => {
            stream.write_all(&bytes)?;
            stream.read(&mut [0]).map(|_| ())
        }
        Reply::Endless(first, more, pause) => {
            stream.write_all(&first)?;
            loop {
                std::thread::sleep(pause);
                stream.write_all(&more)?;
            }
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Asked> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let start = head.len();
        if reader.read_line(&mut head)? == 0 || head[start..].trim().is_empty() {
            break;
        }
        let (name, value) = head[start..].split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = head.split_whitespace().map(str::to_owned);
    Ok(Asked {
        method: words.next().unwrap_or_default(),
        path: words.next().unwrap_or_default(),
        body: String::from_utf8_lossy(&body).into_owned(),
        head,
    })
}
