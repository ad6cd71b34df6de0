// What the page cannot do by itself: filter the tools, copy a listing, call a tool.
// Texts only ever become text nodes, so nothing that a tool answers is markup here.
"use strict";

/** More of an answer than this many characters is not shown: the browser would stall. */
const MAX_SHOWN_CHARACTERS = 200_000;

/** How long a button says that it has copied. */
const COPIED_MS = 1_500;

/** Deeper than this, lines of JSON are not moved further in: nobody could follow. */
const MAX_INDENT = 40;

/** Characters that turn or hide the text around them, as in `html.rs`. */
const HIDDEN =
  /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/** The folder of this page: the server, whatever name and path it is reached by. */
const server = new URL(".", location.href).href;

useOwnAddress();
addCopyButtons();
addFilter();
addForms();

/** Commands name the address that they were written with; this one is known to work. */
function useOwnAddress() {
  const written = document.querySelector(".server")?.textContent;
  for (const code of document.querySelectorAll(".server, .listing code")) {
    const text = code.textContent;
    if (text.startsWith("curl " + written)) {
      code.textContent = "curl " + server + text.slice(5 + written.length);
    } else if (text === written) {
      code.textContent = server;
    }
  }
}

function addCopyButtons() {
  for (const listing of document.querySelectorAll(".listing")) {
    const label = listing.querySelector("figcaption").textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy: " + label);
    button.addEventListener("click", async () => {
      const done = await copy(listing.querySelector("code"));
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
    });
    listing.append(button);
  }
}

/** Browsers give the clipboard to safe origins only; elsewhere the old way may work, and
    if it does not, the text is at least selected. */
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return document.execCommand("copy");
  }
}

function addFilter() {
  const input = document.getElementById("filter");
  const count = input.parentElement.querySelector("[role=status]");
  const tools = [...document.querySelectorAll(".tool")];
  const links = new Map();
  for (const link of document.querySelectorAll("[data-tool]")) {
    links.set("tool-" + link.dataset.tool, link);
  }
  const groups = document.querySelectorAll("section.toolset, .index .toolset");

  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const tool of tools) {
      const fits = words.every((word) => tool.dataset.find.includes(word));
      tool.hidden = !fits;
      links.get(tool.id).hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const group of groups) {
      group.hidden = !group.querySelector(".tool:not([hidden]), [data-tool]:not([hidden])");
    }
    count.textContent = words.length === 0 ? "" : `${shown} of ${tools.length}`;
  };

  input.parentElement.hidden = false;
  input.addEventListener("input", apply);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      apply();
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
  // A browser that goes back may have kept what was typed.
  apply();
}

function addForms() {
  const token = document.getElementById("token");
  if (token) token.parentElement.hidden = false;
  for (const details of document.querySelectorAll(".try")) {
    details.hidden = false;
    const form = details.querySelector("form");
    let running = null;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (running) {
        running.abort();
        return;
      }
      running = new AbortController();
      await call(form, token?.value.trim(), running.signal);
      running = null;
    });
    form.querySelector("textarea").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  }
}

/** Makes the call that a form describes and shows what came of it. */
async function call(form, token, signal) {
  const button = form.querySelector("button");
  const answer = form.querySelector(".answer");
  const say = (text, kind) => {
    const status = form.querySelector(".status");
    status.textContent = text;
    status.className = "status " + kind;
  };

  answer.hidden = true;
  const args = form.querySelector("textarea").value;
  try {
    JSON.parse(args);
  } catch (error) {
    say("The arguments are no JSON: " + error.message, "bad");
    return;
  }
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = "Bearer " + token;

  button.textContent = "Stop";
  say("Running…", "");
  const start = performance.now();
  try {
    // As they were typed: reading and writing them again would round large numbers.
    const body = `{"args":${args}}`;
    const response = await fetch(form.action, { method: "POST", headers, body, signal });
    const text = await response.text();
    const time = Math.round(performance.now() - start);
    const id = response.headers.get("X-Request-Id");
    const words = [`${response.status} ${response.statusText}`.trim(), `${time} ms`];
    if (id) words.push("request " + id);
    say(words.join(" · "), response.ok ? "good" : "bad");
    show(answer, text);
  } catch (error) {
    say(signal.aborted ? "Stopped." : "The server did not answer: " + error.message, "bad");
  } finally {
    button.textContent = "Run";
  }
}

function show(answer, text) {
  // What is too long is cut before it is laid out: that costs more than showing it.
  let shown = text.length > MAX_SHOWN_CHARACTERS ? text : indented(text);
  if (shown.length > MAX_SHOWN_CHARACTERS) {
    const cut = `\n… cut here: the answer has ${text.length} characters`;
    shown = shown.slice(0, MAX_SHOWN_CHARACTERS) + cut;
  }
  answer.querySelector("code").textContent = shown;
  answer.hidden = false;
}

/** JSON with line breaks. Only the space between its words changes, so every number is
    shown as it was sent, and what cannot be seen becomes an escape, which means the same.
    What is no JSON stays as it is. */
function indented(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const words = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let depth = 0;
  let out = "";
  words.forEach((word, index) => {
    const line = () => "\n" + "  ".repeat(Math.min(depth, MAX_INDENT));
    if (word === "{" || word === "[") {
      depth += 1;
      const empty = words[index + 1] === "}" || words[index + 1] === "]";
      out += word + (empty ? "" : line());
    } else if (word === "}" || word === "]") {
      depth -= 1;
      const empty = words[index - 1] === "{" || words[index - 1] === "[";
      out += (empty ? "" : line()) + word;
    } else if (word === ",") {
      out += word + line();
    } else {
      out += word === ":" ? ": " : word;
    }
  });
  return out.replace(HIDDEN, (one) => one.replace(/[^]/g, escaped));
}

function escaped(unit) {
  return "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");
}
