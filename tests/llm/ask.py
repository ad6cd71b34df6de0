"""`toolgate ask` and `toolgate eval` on a real model, directly and through a real LiteLLM proxy."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

KEY = "sk-of-the-test-with-a-model"


def expect_evaluation(bench, work, port):
    """The starter set: nothing is called that must not be, and nothing is claimed that is not quoted."""
    folder = example(bench, work)
    began = time.monotonic()
    said = bench.toolgate(folder, "eval", str(folder / "eval.yaml"), "--json", "--at-least", "80",
                          timeout=1200, **endpoint(bench, port))
    took = time.monotonic() - began
    try:
        report = json.loads(said.stdout)
    except json.JSONDecodeError:
        bench.check("the evaluation ends", False, said)
        return
    for score in report["scores"]:
        shown = [score["id"], score["got"], score.get("planned"), score.get("right_tool"), score.get("right_args"),
                 f"{score['bullets']}+{score['dropped']} bullets", f"{score['duration_ms']} ms", score.get("reason")]
        print("   " + "  ".join(str(one) for one in shown if one is not None))
    share = lambda name: f"{report[name]['right']} of {report[name]['of']}"
    print(f"   {report['model']}: right tool {share('right_tool')}, right arguments {share('right_args')}, "
          f"refused {share('blocked')}, quotes {share('right_quotes')}, bullets {report['bullets']} delivered and "
          f"{report['dropped_bullets']} dropped, {took:.0f} s")
    bench.check("no disallowed call", report["disallowed_calls"] == 0, report)
    bench.check("no ungrounded bullet", report["ungrounded_bullets"] == 0, report)
    right = report["right_tool"]
    bench.check("the right tool in 80 % of the cases", right["right"] * 100 >= right["of"] * 80, right)
    bench.check("what must be refused is", report["blocked"]["right"] == report["blocked"]["of"], report["blocked"])
    bench.check("there are bullets", report["bullets"] >= 5, report)
    bench.check("the command says so", said.returncode == 0, said.returncode)


def expect_question(bench, work, port):
    """The seed's own question, with a trace."""
    folder = example(bench, work)
    trace = work / "trace.json"
    said = bench.toolgate(folder, "ask", "what does policy-002 say about log retention?", "--summarize", "--json",
                          "--trace", str(trace), **endpoint(bench, port))
    answer = json.loads(said.stdout)
    bench.check("a summary with quotes", answer["type"] == "tool_result_with_summary", answer)
    content = answer["typed"]["content"]
    for bullet in answer.get("summary", {}).get("bullets", []):
        place = bullet["location"]
        quote = content[place["start"]:place["end"]] if place["pointer"] == "/content" else bullet["evidence"]
        bench.check(f"the quote of {bullet['claim']!r} is where it says", quote == bullet["evidence"], bullet)
    shown = bench.toolgate(folder, "trace", "show", str(trace)).stdout
    bench.check("the trace is a timeline", "tool_call" in shown and "summary_raw" in shown, shown)


def expect_litellm(bench, work, port):
    """The same endpoint behind LiteLLM, which wants a key. Only where it is installed."""
    program = Path(os.environ.get("TOOLGATE_TEST_CACHE", bench.ROOT / "target/test-cache")) / "litellm/venv/bin/litellm"
    if not program.exists():
        print("   LiteLLM is not installed: left out")
        return
    proxy = bench.free_port()
    config = {"model_list": [{"model_name": "small", "litellm_params": {
        "model": f"openai/{bench.NAME}", "api_base": f"http://127.0.0.1:{port}/v1", "api_key": "none"}}]}
    (work / "litellm.yaml").write_text(json.dumps(config))
    # Nothing of it may reach out: no price list, no telemetry, no page.
    env = {**os.environ, "HOME": str(work), "LITELLM_MASTER_KEY": KEY, "LITELLM_MODE": "PRODUCTION",
           "LITELLM_LOCAL_MODEL_COST_MAP": "True", "DISABLE_ADMIN_UI": "True", "NO_DOCS": "True"}
    command = [str(program), "--config", str(work / "litellm.yaml"), "--host", "127.0.0.1", "--port", str(proxy),
               "--telemetry", "False"]
    process = bench.start(command, work / "litellm.log", env=env, stdout=subprocess.DEVNULL, cwd=work)
    end = time.monotonic() + bench.PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        try:
            bench.get(f"http://127.0.0.1:{proxy}/health/liveliness")
            break
        except OSError:
            time.sleep(0.5)
    folder = example(bench, work)
    through = {"TOOLGATE_LLM__BASE_URL": f"http://127.0.0.1:{proxy}", "TOOLGATE_LLM__MODEL": "small",
               "TOOLGATE_LLM__API_KEY_ENV": "MODEL_KEY", "MODEL_KEY": KEY}
    said = bench.toolgate(folder, "ask", "Show me ticket INC12345", "--json", "--trace", str(work / "proxied.json"), **through)
    holds = said.returncode == 0 and json.loads(said.stdout)["plan"]["args"] == {"ticket_id": "INC12345"}
    bench.check("through LiteLLM", holds, said)
    trace = (work / "proxied.json").read_text() if holds else ""
    bench.check("LiteLLM was told the schema", "response_format_refused" not in trace, trace)
    bench.check("the key is in no trace", KEY not in trace + said.stdout + said.stderr, trace)
    said = bench.toolgate(folder, "ask", "Show me ticket INC12345", **{**through, "MODEL_KEY": "sk-not-the-key"})
    bench.check("a wrong key is told", said.returncode == 2 and "status 40" in said.stderr, said)
    bench.stop(process)


def example(bench, work):
    folder = work / "multi-host"
    if not folder.exists():
        shutil.copytree(bench.ROOT / "examples/multi-host", folder)
    return folder


def endpoint(bench, port):
    return {"TOOLGATE_LLM__BASE_URL": f"http://127.0.0.1:{port}/v1", "TOOLGATE_LLM__MODEL": bench.NAME,
            "TOOLGATE_LLM__STALL_TIMEOUT_MS": "180000"}
