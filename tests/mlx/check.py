"""Loads real models with a real server, here and over ssh, and judges what happens."""

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

BINARY, SERVER, TINY = sys.argv[1], sys.argv[2], Path(sys.argv[3])
EXAMPLE = Path(__file__).parents[2] / "examples/homelab"
SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
PATIENCE_S = 60

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


def eventually(holds):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


def free_port(among=None):
    for port in among or [0]:
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
                return one.getsockname()[1]
            except OSError:
                pass
    raise SystemExit("no port is free")


class Machine:
    """A Toolgate with a folder of its own."""

    def __init__(self, folder, example, **tools):
        """The example's settings as they are, but for some of `tools`."""
        folder.mkdir()
        shutil.copy(EXAMPLE / example, folder / "toolgate.yaml")
        self.folder, self.env = folder, dict(os.environ)
        self.changed = [f"TOOLGATE_TOOLS__{name.upper()}={json.dumps(value)}" for name, value in tools.items()]

    def command(self, *words):
        """A command line that says all that is to be known."""
        return ["env", *self.changed, BINARY, "--config", str(self.folder / "toolgate.yaml"), *words]

    def run(self, *words):
        done = subprocess.run(
            self.command(*words), env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=300
        )
        return done.returncode, done.stdout, done.stderr.strip()

    def call(self, tool, *words):
        """The result and no error, or no result and the error."""
        code, stdout, stderr = self.run("call", tool, *words, "--json")
        whole = json.loads(stdout) if stdout else {}
        return (whole, "") if code == 0 else (None, stderr)

    def load(self, model, port):
        return self.call("mlx.load", f"model={model}", f"port:={port}")

    def unload(self, port):
        return self.call("mlx.unload", f"port:={port}")

    def servers(self):
        _, stdout, stderr = self.run("mlx", "status", "--json")
        return {one["port"]: one for one in json.loads(stdout or "{}").get("servers", [])}

    def state(self, port):
        return self.servers().get(port, {}).get("state")


def complete(port):
    body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return {}


def running(port):
    """Model servers on this port, by their command lines."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "mlx_lm.server" in line and f"--port {port} " in line and "__keep" not in line:
            found.append(line)
    return found


def models(folder):
    """What a person may have on the disk."""
    (folder / "empty").mkdir(parents=True)
    alien = folder / "alien"
    shutil.copytree(TINY, alien)
    config = json.loads((alien / "config.json").read_text())
    (alien / "config.json").write_text(json.dumps({**config, "model_type": "nosuch"}))
    torn = folder / "torn"
    shutil.copytree(TINY, torn)
    with (torn / "model.safetensors").open("r+b") as weights:
        weights.truncate(100_000)
    return {
        "tiny": str(TINY),
        "empty": str(folder / "empty"),
        "alien": str(alien),
        "torn": str(torn),
        "gone": str(folder / "gone"),
    }


def large_machine(work):
    launch = [SERVER, "--model", "{model}", "--host", "127.0.0.1", "--port", "{port}"]
    allowed = ["mlx-community/*", "org/*"]
    return Machine(
        work / "studio", "studio.yaml", mlx__launch=launch, mlx__models=models(work / "models"), mlx__allow=allowed
    )


def small_machine(folder, studio, path):
    machine = Machine(folder, "toolgate.yaml", mlx__host_command=studio.command("mcp", "--toolset", "mlxctl"))
    machine.env["PATH"] = path
    return machine


def locally(studio):
    port, other = free_port(range(8100, 8120)), free_port(range(8120, 8140))
    loaded, error = studio.load("tiny", port)
    check("a model is loaded", loaded and loaded["output"]["message"] == f"loaded tiny on {port}", error)
    answer = complete(port)
    check("and answers", answer.get("choices", [{}])[0].get("finish_reason") == "length", answer)
    server = studio.servers().get(port, {})
    check("it is listed as well", (server.get("state"), server.get("health")) == ("ready", {"status": 200}), server)
    check("with its log", any("POST /v1/chat/completions" in line for line in server.get("log", [])), server)
    again, error = studio.load("tiny", port)
    check("loading it again is a success", again and "already" in again["output"]["message"], error)
    _, error = studio.load("alien", port)
    check("another one has to wait", error.startswith("port_busy: "), error)
    for model, code in [
        ("empty", "model_not_found"),
        ("gone", "model_not_found"),
        ("org/not-on-this-machine", "model_not_found"),
        ("/etc", "model_not_found"),
        ("alien", "launch_failed"),
        ("torn", "launch_failed"),
    ]:
        _, error = studio.load(model, other)
        check(f"{model} is {code}", error.startswith(f"{code}: "), error)
        check(f"and nothing of {model} is left", not running(other), running(other))
    foreign = subprocess.Popen([SERVER, "--model", str(TINY), "--port", str(other)], stderr=subprocess.DEVNULL)
    started.append(foreign)
    eventually(lambda: complete(other))
    _, error = studio.load("tiny", other)
    check("a server of somebody else is port_busy, by name", error.startswith(f"port_busy: port {other} is held by `"), error)
    _, error = studio.unload(other)
    check("and is left alone", error.startswith("not_listening: ") and complete(other), error)
    foreign.kill()
    foreign.wait()
    gone, error = studio.unload(port)
    check("it is unloaded", gone and gone["output"]["ok"], error)
    check("and gone", not running(port), running(port))
    _, error = studio.unload(port)
    check("an idle port is not_listening", error.startswith("not_listening: "), error)


def killed(studio):
    """Nothing that nobody knows of is left, and what is known is found again."""
    port = free_port(range(8100, 8140))
    serve = subprocess.Popen(
        studio.command("serve", "--listen", "127.0.0.1:0"),
        cwd=studio.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    started.append(serve)
    address = serve.stdout.readline().split(" listens on ")[1].split()[0]
    body = json.dumps({"args": {"model": "tiny", "port": port}}).encode()
    request = urllib.request.Request(f"{address}/v1/tools/mlx.load", data=body)
    with urllib.request.urlopen(request, timeout=120) as answer:
        check("a model is loaded over REST", json.load(answer)["ok"])
    serve.kill()
    serve.wait()
    check("it outlives the Toolgate that loaded it", studio.state(port) == "ready" and complete(port))
    gone, error = studio.unload(port)
    check("and another one unloads it", gone and not running(port), error)
    loading = subprocess.Popen(
        studio.command("call", "mlx.load", "model=tiny", f"port:={port}"),
        cwd=studio.folder, stdout=subprocess.DEVNULL,
    )
    eventually(lambda: running(port))
    loading.kill()
    loading.wait()
    check("killed while it loads, nothing is left", eventually(lambda: not running(port)), running(port))
    # Nothing is known of it if nothing was written down by then.
    check("and it is not taken for loading", studio.state(port) in ("ended", None), studio.servers())


def added(studio):
    """How much later than by hand a model is ready: for people to read, not judged."""
    port = free_port(range(8100, 8140))
    times = []
    for _ in range(3):
        began = time.monotonic()
        bare = subprocess.Popen([SERVER, "--model", str(TINY), "--port", str(port)], stderr=subprocess.DEVNULL)
        while not complete(port):
            time.sleep(0.005)
        times.append(time.monotonic() - began)
        bare.terminate()
        bare.wait()
        began = time.monotonic()
        loaded, error = studio.load("tiny", port)
        assert loaded, error
        times.append(loaded["metrics"]["ready_ms"] / 1000)
        studio.unload(port)
    by_hand, by_us = min(times[0::2]), min(times[1::2])
    print(f"   ready after {by_hand:.2f} s by hand and {by_us:.2f} s by mlx.load, the best of three", flush=True)


class Sshd:
    """A real one, on loopback, with keys of its own."""

    def __init__(self, work):
        self.folder, self.port = work / "ssh", free_port()
        self.folder.mkdir(mode=0o700)
        for name in ["host", "mini", "stranger"]:
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        shutil.copy(self.folder / "mini.pub", self.folder / "authorized_keys")
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        (self.folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host\n"
            f"AuthorizedKeysFile {self.folder}/authorized_keys\nPidFile none\nUsePAM no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nStrictModes no\nPermitRootLogin yes\n"
        )
        host_key = " ".join((self.folder / "host.pub").read_text().split()[:2])
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {host_key}\n")
        command = [SSHD, "-D", "-e", "-f", self.folder / "sshd_config"]
        self.process = subprocess.Popen(command, stderr=(self.folder / "log").open("w"))
        started.append(self.process)

    def path(self, key):
        """A PATH whose `ssh` is the real one, with a configuration that is not the user's own."""
        (self.folder / f"config-{key}").write_text(
            f"Host studio\n  HostName 127.0.0.1\n  Port {self.port}\n  User {getpass.getuser()}\n"
            f"  IdentityFile {self.folder}/{key}\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {self.folder}/known_hosts\n  StrictHostKeyChecking yes\n"
        )
        folder = self.folder / f"bin-{key}"
        folder.mkdir()
        wrapper = folder / "ssh"
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.folder}/config-{key} "$@"\n')
        wrapper.chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"


def remotely(work, studio):
    sshd = Sshd(work)
    mini = small_machine(work / "mini", studio, sshd.path("mini"))
    port = free_port(range(8100, 8140))
    loaded, error = mini.load("tiny", port)
    check("over ssh a model is loaded", loaded and loaded["output"]["message"] == f"loaded tiny on {port}", error)
    check("on the other machine", studio.state(port) == "ready" and complete(port))
    again, error = mini.load("tiny", port)
    check("it is there when one comes back", again and "already" in again["output"]["message"], error)
    for model, code in [("gone", "model_not_found"), ("$(touch pwned)", "model_not_found"), ("alien", "port_busy")]:
        _, error = mini.load(model, port)
        check(f"{model} is {code} over ssh", error.startswith(f"{code}: "), error)
    _, error = mini.load("tiny", 80)
    check("a wrong port does not even cross", error.startswith("invalid_port: "), error)
    gone, error = mini.unload(port)
    check("over ssh it is unloaded", gone and not running(port), error)
    _, error = mini.unload(port)
    check("and is not_listening then", error.startswith("not_listening: "), error)
    _, listed, _ = mini.run("tools", "--json")
    names = [tool["name"] for tool in json.loads(listed)["tools"]]
    check("the tools have the names of the seed", {"mlx.load", "mlx.unload"} <= set(names), names)
    check("and no others", not any(name.startswith("mlxctl") for name in names), names)

    loading = subprocess.Popen(
        mini.command("call", "mlx.load", "model=tiny", f"port:={port}"),
        env=mini.env, cwd=mini.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )
    eventually(lambda: running(port))
    subprocess.run(["pkill", "-KILL", "-f", f"{sshd.folder}/config-mini"], check=False)
    _, error = loading.communicate(timeout=120)
    check("a lost connection is an error", loading.returncode == 1, error)
    check("and leaves nothing over there", eventually(lambda: not running(port)), running(port))

    stranger = small_machine(work / "stranger", studio, sshd.path("stranger"))
    _, error = stranger.load("tiny", port)
    check("a machine that refuses is told", error and "mlxctl" in error, error)
    sshd.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    _, error = mini.load("tiny", port)
    check("a machine that hangs is given up", error and time.monotonic() - began < 60, error)
    sshd.process.send_signal(signal.SIGCONT)
    check("no shell has read anything", not list(work.rglob("pwned")) and not (Path.home() / "pwned").exists())


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        studio = large_machine(work)
        try:
            locally(studio)
            killed(studio)
            added(studio)
            if SSHD:
                remotely(work, studio)
            else:
                print("skipped: the part over ssh, there is no sshd")
        finally:
            for port in studio.servers():
                studio.unload(port)
            for process in started:
                process.kill()
    if failed:
        print(f"{len(failed)} of {checks} checks failed: {', '.join(failed)}")
        sys.exit(1)
    print(f"all {checks} checks hold")


main()
