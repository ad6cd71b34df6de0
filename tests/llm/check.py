"""Starts the model, has transcripts cleaned and questions answered, and judges what comes back."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import ask

ROOT, BINARY, WEIGHTS = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
NAME = "qwen2.5-coder-1.5b"
# On a busy machine it writes a few words a second.
PATIENCE_S = 120

MEETING = """WEBVTT

1
00:00:01.000 --> 00:00:04.000
<v Dana Levi>um so i was talking to maria yesterday and she said that the new build is twice as fast</v>

2
00:00:04.500 --> 00:00:06.000
<v Dana Levi>but it crashes when you open more than three files can you look at it today</v>

3
00:00:06.200 --> 00:00:08.000
<v Kofi Mensah>sure the logs are at https://logs.example.com/build/42 and i will write to ops@acme.io</v>

4
00:00:09.000 --> 00:00:09.500
<v Dana Levi>thanks</v>
"""
DICTATION = (
    "okay let's get started thanks everyone for joining today we have three things on the agenda "
    "first the budget second the hiring plan and third the office move to berlin can everybody see my "
    "screen the budget is 3.5 million which is about twelve percent more than last year"
)
GERMAN = (
    "guten morgen wir haben morgen um zehn uhr einen termin mit der bank bitte bring die unterlagen mit "
    "ich komme direkt von zu hause"
)
# In a piece of this length the model drops a word or two.
LONG = (
    "thanks everyone for joining today we have three things on the agenda and the third is the office move "
    "to berlin which as you all know got delayed by two weeks because the landlord did not sign the contract "
    "any questions so far no good then let me share my screen can everybody see this great so the budget is "
    "3.5 million and i really think we can do better there peter you wanted to say something yes thanks so we "
    "looked at the numbers and if we commit for three years we save about forty percent"
)

checks, failed = 0, []
started = []


def check(name, holds, seen=""):
    global checks
    checks += 1
    if holds:
        print(f"ok {name}", flush=True)
    else:
        failed.append(name)
        print(f"FAILED {name}: {seen}", flush=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(command, log, **more):
    """A process in a group of its own, so that all of it can be ended."""
    process = subprocess.Popen(
        command, stderr=log.open("w"), start_new_session=True, text=True, **more
    )
    started.append(process)
    return process


def stop(process, how=signal.SIGTERM):
    try:
        os.killpg(process.pid, how)
        process.wait(10)
    except ProcessLookupError:
        pass
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def stop_all():
    for process in reversed(started):
        if process.poll() is None:
            stop(process)


def get(url, timeout=10):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return answer.read().decode()


def model(work, port):
    log = work / "model.log"
    command = [sys.executable, str(ROOT / "tests/llm/serve.py"), WEIGHTS, str(port), NAME]
    process = start(command, log, stdout=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        try:
            get(f"http://127.0.0.1:{port}/health")
            return process
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"llm: the model did not start\n{log.read_text()[-4000:]}")


def settings(work, port):
    values = {
        "llm": {"base_url": f"http://127.0.0.1:{port}", "model": NAME, "stall_timeout_ms": 90000},
        "tools": {"transcript": {"mode": "model", "max_chunk_characters": 250}},
    }
    (work / "toolgate.yaml").write_text(json.dumps(values))


def toolgate(work, *arguments, timeout=2 * PATIENCE_S, **changes):
    """A command line to its end."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("TOOLGATE_")}
    command = [BINARY, *arguments, "--config", str(work / "toolgate.yaml")]
    return subprocess.run(
        command, env={**env, **changes}, capture_output=True, text=True, timeout=timeout
    )


def words(text):
    """The words, without names of speakers and what a filler may be."""
    text = re.sub(r"(?m)^(Dana Levi|Kofi Mensah): ", "", text)
    found = (piece.strip(".,;:!?\"'()—").lower() for piece in text.split())
    return [word for word in found if word and word not in ("um", "uh", "-")]


def clean(work, name, text, said, **changes):
    """Cleans a transcript with the model and by rules; the metrics."""
    (work / "said.txt").write_text(text)
    arguments = ["call", "transcript.clean", "text=@" + str(work / "said.txt"), "--json"]
    by_rules = toolgate(work, *arguments, TOOLGATE_TOOLS__TRANSCRIPT__MODE="rules")
    by_rules = json.loads(by_rules.stdout)["output"]["clean_text"]
    began = time.monotonic()
    answer = toolgate(work, *arguments, **changes)
    took = time.monotonic() - began
    if answer.returncode != 0:
        check(name, False, answer)
        return {"chunks": 0, "fallbacks": 0}
    result = json.loads(answer.stdout)
    text, metrics = result["output"]["clean_text"], result["metrics"]
    print(f"   {took:.1f} s, {metrics['chunks']} chunks, {metrics['fallback_reasons']}: {text!r}")
    check(f"{name}: the words are those that were said", words(text) == words(said), text)
    check(f"{name}: nothing but the text", list(result["output"]) == ["clean_text"], result)
    check(f"{name}: counted", metrics["chunks"] >= 1 and metrics["words"] > 0, metrics)
    marks = lambda text: len(re.findall(r"[.,?!;:](?=\s|$)", text))
    metrics["new_marks"] = marks(text) - marks(by_rules)
    metrics["text"] = text
    return metrics


def expect_transcripts(work):
    said = " ".join(re.findall(r"<v [^>]*>(.*)</v>", MEETING))
    all_metrics = [
        clean(work, "a meeting", MEETING, said),
        clean(work, "dictation", DICTATION, DICTATION),
        clean(work, "German", GERMAN, GERMAN),
        clean(work, "one long piece", LONG, LONG, TOOLGATE_TOOLS__TRANSCRIPT__MAX_CHUNK_CHARACTERS="1500"),
    ]
    text = all_metrics[0].get("text", "")
    check("speakers stay", text.startswith("Dana Levi: So") and "\n\nKofi Mensah: " in text, text)
    entities = ["https://logs.example.com/build/42", "ops@acme.io"]
    check("addresses stay", all(one in text for one in entities), text)
    kept = sum(one["chunks"] - one["fallbacks"] for one in all_metrics)
    check("answers of the model were taken", kept >= 1, all_metrics)
    marks = sum(one.get("new_marks", 0) for one in all_metrics)
    check("there is more punctuation than by rules", marks >= 3, all_metrics)


def expect_cases(work):
    """The collected cases for a model, but for the one that wants other words than were said."""
    cases = json.loads((ROOT / "crates/transcript/src/tests/cases.json").read_text())["cases"]
    for case in cases:
        if case["mode"] != "llm" or case["id"] == "t38":
            continue
        said = case["input"]["text"]
        text = clean(work, case["id"], said, said).get("text", "").lower()
        wanted = case["require"].get("icontains", [])
        check(f"{case['id']}: {case['category']}", all(one in text for one in wanted), text)


def expect_doctor(work, usable):
    said = toolgate(work, "doctor", "--listen", "127.0.0.1:0").stdout
    line = next((line for line in said.splitlines() if " language model: " in line), said)
    state = "ok" if usable else "problem"
    words = f"answers, with `{NAME}`" if usable else "cannot be reached"
    check(f"doctor: {state}", line.startswith(state) and words in line, said)


def serve(work):
    command = [BINARY, "serve", "--config", str(work / "toolgate.yaml"), "--listen", "127.0.0.1:0"]
    process = start(command, work / "toolgate.log", stdout=subprocess.PIPE)
    line = process.stdout.readline()
    if "http://" not in line:
        raise SystemExit(f"llm: toolgate did not start\n{(work / 'toolgate.log').read_text()}")
    return next(word for word in line.split() if word.startswith("http://"))


def expect_death(work, server):
    """A job whose progress is watched; the model dies in the middle of it."""
    url = serve(work)
    body = {"tool": "transcript.clean", "input": {"text": DICTATION + " and so on " + GERMAN}}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/v1/jobs", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        job = json.load(answer)
    address = f"{url}/v1/jobs/{job.get('job_id') or job['id']}"
    fractions, events = [], []
    with urllib.request.urlopen(f"{address}/events", timeout=PATIENCE_S) as stream:
        for line in stream:
            line = line.decode().strip()
            events.append(line)
            if line.startswith("data: ") and "chunk " in line:
                fractions.append(line)
                # In the middle of an answer: not the first word of it that is told.
                if len(fractions) == 3 and server.poll() is None:
                    stop(server, signal.SIGKILL)
    check("progress within an answer is told", len(fractions) >= 3, events)
    check("progress names the chunk", any("chunk 1 of " in one for one in fractions), events)
    job = json.loads(get(address))
    check("a model that dies is a model_error", '"model_error"' in json.dumps(job), job)
    (work / "said.txt").write_text(DICTATION)
    said = toolgate(work, "call", "transcript.clean", "text=@" + str(work / "said.txt"))
    holds = said.returncode == 1 and "model_error" in said.stderr
    check("no model is a model_error", holds and "127.0.0.1" not in said.stderr, said)


def main():
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        port = free_port()
        settings(work, port)
        server = model(work, port)
        print(f"   the model is there after {time.monotonic() - began:.1f} s")
        expect_doctor(work, True)
        expect_transcripts(work)
        expect_cases(work)
        bench = sys.modules[__name__]
        ask.expect_question(bench, work, port)
        ask.expect_evaluation(bench, work, port)
        ask.expect_litellm(bench, work, port)
        expect_death(work, server)
        expect_doctor(work, False)
        stop_all()
    took = f"{time.monotonic() - began:.0f} s"
    if failed:
        print(f"llm: FAILED in {len(failed)} of {checks} checks, {took}")
        sys.exit(1)
    print(f"llm: {checks} checks passed, {took}")


try:
    main()
finally:
    stop_all()
