// Reads what the suite found out in a run for one revision, tells it in short, and judges what
// the suite itself does not score.
//
//   node judge.mjs RESULTS REVISION
//
// Exits 1 where something of that does not hold.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

// Not required by the revision, and wanted all the same.
const WANTED = {
  '2025-11-25': ['json-schema-2020-12', 'server-session-lifecycle'],
  '2026-07-28': [
    'http-custom-header-server-validation',
    'http-header-validation',
    'json-schema-2020-12',
    'tasks-capability-negotiation',
    'tasks-dispatch-and-envelope',
    'tasks-lifecycle',
    'tasks-mrtr-composition',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-request-state-removal',
    'tasks-required-task-error',
    'tasks-status-notifications',
    'tasks-wire-fields',
  ],
};
// The suite announces these and has nothing in them yet.
const EMPTY = ['tasks-status-notifications'];
// Told and not judged: it wants a server that closes streams in the middle of a call.
const TOLD = ['server-sse-polling'];

const [results, revision] = process.argv.slice(2);
const folder = join(results, revision);

// A scenario that could not go on leaves its folder and nothing in it.
function checksIn(folder) {
  const file = join(folder, 'checks.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  return [{ id: 'scenario', status: 'FAILURE', errorMessage: 'broke off; the log has more' }];
}

// The checks of each scenario; a folder is named `server-<scenario>-<time>`.
const scenarios = new Map();
for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
  const [, scenario] = /^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(name) ?? [];
  if (scenario) scenarios.set(scenario, checksIn(join(folder, name)));
}

const counts = { SUCCESS: 0, FAILURE: 0, WARNING: 0, SKIPPED: 0 };
const lines = [];
for (const [scenario, checks] of scenarios) {
  for (const { id, status, errorMessage } of checks) {
    if (status in counts) counts[status] += 1;
    if (status !== 'FAILURE' && status !== 'WARNING') continue;
    const word = TOLD.includes(scenario) ? `${status} (not judged)` : status;
    lines.push(`  ${word} ${scenario}, ${id}: ${(errorMessage ?? '').slice(0, 600)}`);
  }
}

let holds = true;
for (const scenario of WANTED[revision]) {
  const checks = scenarios.get(scenario) ?? [];
  const failed = checks.some(({ status }) => status === 'FAILURE');
  // What was skipped has not held.
  const idle = !checks.some(({ status }) => status === 'SUCCESS') && !EMPTY.includes(scenario);
  if (idle && !failed) lines.push(`  FAILURE ${scenario}: nothing in it was checked`);
  if (idle || failed) holds = false;
}

console.log(
  `${revision}: ${scenarios.size} scenarios, ${counts.SUCCESS} checks hold, ` +
    `${counts.FAILURE} fail, ${counts.WARNING} warn, ${counts.SKIPPED} skipped`,
);
for (const line of lines) console.log(line);
process.exit(holds ? 0 : 1);
