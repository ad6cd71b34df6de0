//! Reads pages that are named by lines of JSON (`id`, `url`, `path`) on stdin and prints what they
//! say, a line each; with `rows` as what the model sees of them, for whoever trains it.

use std::{
    error::Error,
    io::{BufRead, Write},
};

use serde_json::{Value, json};
use url::Url;

/// The program's own, so that it is measured as it runs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let rows = std::env::args().nth(1).as_deref() == Some("rows");
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let bytes = std::fs::read(line["path"].as_str().unwrap_or_default())?;
        let html = String::from_utf8_lossy(&bytes);
        let url = line["url"].as_str().and_then(|url| Url::parse(url).ok());
        let scored: Option<Vec<f32>> = serde_json::from_value(line["sureties"].clone()).ok();
        let mut printed = if let Some(sureties) = scored {
            json!({ "clean_text": extract::training::text_scored(&html, url.as_ref(), sureties) })
        } else if rows {
            sheet(&html, url.as_ref())
        } else {
            page(&html, url.as_ref())
        };
        printed["id"] = line["id"].clone();
        writeln!(output, "{printed}")?;
    }
    Ok(())
}

fn page(html: &str, url: Option<&Url>) -> Value {
    let began = std::time::Instant::now();
    let page = extract::read(html, url, extract::PageFormat::Text);
    json!({
        "clean_text": page.text,
        "title": page.title,
        "byline": page.byline,
        "published_at": page.published_at,
        "lang": page.lang,
        "seconds": began.elapsed().as_secs_f64(),
    })
}

fn sheet(html: &str, url: Option<&Url>) -> Value {
    let sheet = extract::training::sheet(html, url);
    json!({
        "texts": sheet.texts,
        "rows": sheet.rows,
        "above": sheet.above,
        "names": sheet.names,
        "said": sheet.said,
        "headings": sheet.headings,
    })
}
