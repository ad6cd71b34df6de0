// Stands between a client and the process it starts, passes everything on as it is, and
// reports what a client keeps to itself: lines that are no messages, and how the process ends.
//
//   node witness.mjs FOLDER COMMAND…
//
// Each run leaves one report in the folder: `PID.json`; until then `PID.running` holds the
// id of the process.
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const GRACE_MS = 2000;

const [folder, command, ...args] = process.argv.slice(2);
const running = join(folder, `${process.pid}.running`);

// A client that loses patience signals the witness. The process shall end without that.
process.on('SIGTERM', () => {});
process.on('SIGINT', () => {});

const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
mkdirSync(folder, { recursive: true });
writeFileSync(running, String(child.pid));

let text = '';
child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
child.stdout.pipe(process.stdout);
process.stdin.pipe(child.stdin);
// Either side may be gone first.
for (const stream of [process.stdin, process.stdout, child.stdin]) stream.on('error', () => {});

let closed;
process.stdin.on('close', () => {
  closed = performance.now();
  setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
});

child.on('close', (exit, signal) => {
  const seconds = closed && (performance.now() - closed) / 1000;
  const noise = text.split('\n').slice(0, -1).filter((line) => !isMessage(line));
  const rest = text.slice(text.lastIndexOf('\n') + 1);
  if (rest) noise.push(rest);
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify({ exit, signal, seconds, noise }));
  rmSync(running);
  process.exit(exit ?? 1);
});

function isMessage(line) {
  try {
    return JSON.parse(line)?.jsonrpc === '2.0';
  } catch {
    return false;
  }
}
