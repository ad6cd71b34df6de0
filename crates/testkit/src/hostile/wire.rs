//! The bytes of its responses.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use tokio::io::AsyncWriteExt;

use super::{
    HostileRequest, Wire, charsets, documents,
    encodings::{bomb, encoded},
    pages,
};

/// A delay that is longer than any client's timeout.
const LONG: Duration = Duration::from_mins(2);
const MIB: usize = 1_048_576;

/// Answers a request, in its way.
pub(super) async fn answer(asked: &HostileRequest, stream: &mut impl Wire) -> io::Result<()> {
    let page = pages::page();
    let query = |name: &str| asked.query.get(name).map_or("", String::as_str);
    let number = |text: &str| text.parse::<usize>().unwrap_or_default();
    match asked.path.as_str() {
        "/ok" => say(stream, 200, HTML, "", &page).await,
        "/size" => {
            let bytes = number(query("n"));
            stream.write_all(&head(200, "text/plain", "", bytes)).await?;
            repeat(stream, bytes).await
        }
        "/chunked" => {
            stream.write_all(CHUNKED).await?;
            let mut left = number(query("n"));
            while left > 0 {
                let piece = left.min(65_536);
                stream.write_all(format!("{piece:x}\r\n").as_bytes()).await?;
                repeat(stream, piece).await?;
                stream.write_all(b"\r\n").await?;
                left -= piece;
            }
            stream.write_all(b"0\r\n\r\n").await
        }
        "/cl_huge" => {
            stream.write_all(&head(200, "text/plain", "", 10 << 30)).await?;
            wait().await
        }
        "/endless" => {
            stream.write_all(CHUNKED).await?;
            let piece = format!("10000\r\n{}\r\n", "<p>hello </p>   ".repeat(4_096));
            loop {
                stream.write_all(piece.as_bytes()).await?;
            }
        }
        "/sse" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n").await?;
            loop {
                stream.write_all(b"data: tick\n\n").await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        "/bomb" => {
            let encodings = query("enc");
            let mut body = Vec::new();
            for (index, encoding) in encodings.split(',').enumerate() {
                body = if index == 0 {
                    bomb(encoding).await?
                } else {
                    encoded(encoding, &body).await?
                };
            }
            say(stream, 200, HTML, &format!("Content-Encoding: {encodings}\r\n"), &body).await
        }
        "/encoded" => {
            let encodings = query("enc");
            let mut body = page;
            for encoding in encodings.split(',') {
                body = encoded(encoding.trim(), &body).await?;
            }
            body.truncate(body.len() - number(query("cut")).min(body.len()));
            let named = encodings.replace("raw", "deflate");
            say(stream, 200, HTML, &format!("Content-Encoding: {named}\r\n"), &body).await
        }
        "/gzip_ok" => {
            let body = encoded("gzip", &page).await?;
            say(stream, 200, HTML, "Content-Encoding: gzip\r\n", &body).await
        }
        "/gzip_trunc" => {
            let body = encoded("gzip", &page.repeat(50)).await?;
            say(stream, 200, HTML, "Content-Encoding: gzip\r\n", &body[..body.len() / 2]).await
        }
        "/gzip_lie" => say(stream, 200, HTML, "Content-Encoding: gzip\r\n", &page).await,
        "/enc_unknown" => say(stream, 200, HTML, "Content-Encoding: rot13\r\n", &page).await,
        "/cl_short" => {
            stream.write_all(&head(200, HTML, "", page.len())).await?;
            stream.write_all(&page).await?;
            stream.write_all(&b"SECRET_TAIL".repeat(100)).await
        }
        "/cl_long" => {
            stream.write_all(&head(200, HTML, "", page.len() + 5_000)).await?;
            stream.write_all(&page).await
        }
        "/hang" => wait().await,
        "/slow_headers" => slowly(stream, &head(200, HTML, "", page.len())).await,
        "/slow_body" => {
            stream.write_all(&head(200, HTML, "", page.len())).await?;
            slowly(stream, &page).await
        }
        "/close" | "/reset" => Ok(()),
        "/hdr_endless" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await?;
            let mut number = 0_u64;
            loop {
                number += 1;
                stream.write_all(format!("X-{number}: {}\r\n", "a".repeat(100)).as_bytes()).await?;
            }
        }
        "/flood_100" => loop {
            stream.write_all(&b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100)).await?;
        },
        "/early_hints" => {
            stream
                .write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
                .await?;
            say(stream, 200, HTML, "", &page).await
        }
        "/pipelined" => {
            let second = pages::page_with("hello", b"SECOND");
            let keep = |body: &[u8]| {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: {HTML}\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                [head.as_bytes(), body].concat()
            };
            stream.write_all(&[keep(&page), keep(&second)].concat()).await?;
            // It stays open, so that a careless client would keep it.
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(())
        }
        "/cookie" => say(stream, 200, HTML, "Set-Cookie: sid=1; Path=/\r\n", &page).await,
        "/echo" => say(stream, 200, "text/plain", "", &asked.bytes).await,
        "/type" => {
            let text = ["json", "csv", "markdown", "plain"];
            let is_text = text.iter().any(|word| query("ct").to_lowercase().contains(word));
            let body = if is_text { br#"{"hello":"hello world"}"#.to_vec() } else { page };
            say(stream, 200, query("ct"), "", &body).await
        }
        "/type_two" => {
            say(stream, 200, HTML, "Content-Type: application/pdf\r\n", &pages::odd("pdf")).await
        }
        "/sniff" => say(stream, 200, query("ct"), "", &pages::odd(query("body"))).await,
        "/redir" => {
            let status = asked.query.get("st").map_or("302", String::as_str);
            let mut answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n");
            if let Some(to) = asked.query.get("to") {
                answer += &format!("Location: {to}\r\n");
            }
            stream.write_all(format!("{answer}{}\r\n", query("more")).as_bytes()).await
        }
        "/robots.txt" => {
            say(stream, 200, "text/plain", "", b"User-agent: *\nDisallow: /status/\n").await
        }
        "/kept" => kept(asked, stream).await,
        "/loop" => stream.write_all(&redirect("/loop")).await,
        path => by_part(path, stream, &page).await,
    }
}

/// An answer that says whether it may be kept (`with`: its headers), and knows itself again.
async fn kept(asked: &HostileRequest, stream: &mut impl Wire) -> io::Result<()> {
    static VISITS: AtomicUsize = AtomicUsize::new(0);
    let headers = asked.query.get("with").map_or("", String::as_str);
    let asks =
        String::from_utf8_lossy(&asked.bytes).to_lowercase().contains("if-none-match: \"1\"");
    if asks && headers.contains("ETag") {
        return stream.write_all(format!("HTTP/1.1 304 X\r\n{headers}\r\n").as_bytes()).await;
    }
    let visit = VISITS.fetch_add(1, Ordering::SeqCst);
    say(stream, 200, "text/plain", headers, format!("visit {visit}").as_bytes()).await
}

/// Paths with something in them, and those that are one write.
async fn by_part(path: &str, stream: &mut impl Wire, page: &[u8]) -> io::Result<()> {
    if let Some(status) = path.strip_prefix("/status/") {
        let status = status.parse().unwrap_or(500);
        return say(stream, status, HTML, "", if status == 204 { b"" } else { page }).await;
    }
    if let Some(hops) = path.strip_prefix("/hops/") {
        return match hops.parse::<usize>().unwrap_or_default() {
            0 => say(stream, 200, HTML, "", page).await,
            left => stream.write_all(&redirect(&format!("/hops/{}", left - 1))).await,
        };
    }
    let odd = path
        .strip_prefix("/cs/")
        .and_then(charsets::page)
        .or_else(|| path.strip_prefix("/doc/").and_then(documents::document));
    if let Some((content_type, body)) = odd {
        return say(stream, 200, content_type, "", &body).await;
    }
    match broken(path, page) {
        Some(bytes) => stream.write_all(&bytes).await,
        None => say(stream, 404, HTML, "", b"no such case").await,
    }
}

/// Answers that are not HTTP, or not quite.
fn broken(path: &str, page: &[u8]) -> Option<Vec<u8>> {
    let with = |head: &str| [head.as_bytes(), page].concat();
    let header = |extra: &[u8]| {
        [b"HTTP/1.1 200 X\r\nContent-Type: text/html\r\n", extra, b"\r\n\r\n", page].concat()
    };
    let chunks = |body: &str| [CHUNKED, body.as_bytes()].concat();
    let size = page.len();
    Some(match path {
        "/cl_two" => with(&format!(
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: {size}\r\n\r\n"
        )),
        "/cl_te" => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n";
            let chunk = format!("Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n");
            [with(&format!("{head}{chunk}")).as_slice(), b"\r\n0\r\n\r\n"].concat()
        }
        "/cl_neg" => with("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        "/chunk_overflow" => chunks("fffffffffffffffff\r\nhello"),
        "/chunk_bad" => chunks("5\r\nhelloXX5\r\n"),
        "/hdr_big" => header(&[b"X-Big: ".as_slice(), &b"a".repeat(MIB)].concat()),
        "/hdr_many" => {
            let all: Vec<String> = (0..20_000).map(|number| format!("X-H{number}: v")).collect();
            header(all.join("\r\n").as_bytes())
        }
        "/hdr_nocolon" => header(b"this is not a header"),
        "/hdr_nul" => header(b"X-N: a\0b"),
        "/hdr_latin1" => header(b"X-L: caf\xe9"),
        "/hdr_repeat" => header(b"X-R: one\r\nX-R: two"),
        "/http09" => page.to_vec(),
        "/http10" => with("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"),
        "/status_garbage" => with("BANANA 200 OK\r\n\r\n"),
        "/status_999" => with(&format!("HTTP/1.1 999 X\r\nContent-Length: {size}\r\n\r\n")),
        _ => return None,
    })
}

const HTML: &str = "text/html; charset=utf-8";
const CHUNKED: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";

fn head(status: u16, content_type: &str, extra: &str, length: usize) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} X\r\n");
    if !content_type.is_empty() {
        head += &format!("Content-Type: {content_type}\r\n");
    }
    head += &format!("Content-Length: {length}\r\n{extra}Connection: close\r\n\r\n");
    head.into_bytes()
}

fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 X\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

async fn say(
    stream: &mut impl Wire,
    status: u16,
    content_type: &str,
    extra: &str,
    body: &[u8],
) -> io::Result<()> {
    stream.write_all(&head(status, content_type, extra, body.len())).await?;
    stream.write_all(body).await?;
    stream.flush().await
}

async fn repeat(stream: &mut impl Wire, bytes: usize) -> io::Result<()> {
    let piece = vec![b'a'; 65_536];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(piece.len());
        stream.write_all(&piece[..now]).await?;
        left -= now;
    }
    stream.flush().await
}

async fn slowly(stream: &mut impl Wire, bytes: &[u8]) -> io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        stream.flush().await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

async fn wait() -> io::Result<()> {
    tokio::time::sleep(LONG).await;
    Ok(())
}
