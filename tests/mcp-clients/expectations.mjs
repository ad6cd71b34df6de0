// What must hold, for every client alike.
//
//   node expectations.mjs NAME ERA TRANSPORT SEEN.json [REPORTS]
//
// SEEN.json is what a client printed, REPORTS the folder of the witness on stdio.
// Prints a line for each check; exits 1 if one fails.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

const VERSIONS = { legacy: '2025-11-25', modern: '2026-07-28' };
const TOOLS = ['echo_json', 'hello', 'write_text_artifact'];
const TOOLSET = ['echo_json', 'write_text_artifact'];
const ECHO = { message: 'hello', repeat: ['hello', 'hello'] };
const LINK = /^toolgate:\/\/jobs\/[^/]+\/artifacts\/note\.txt$/;

const [name, era, transport, file, reports] = process.argv.slice(2);
const seen = JSON.parse(readFileSync(file, 'utf8'));

// `evidence` is shown when the check fails.
function check(what, holds, evidence) {
  if (holds) {
    console.log(`ok ${name} ${transport} ${what}`);
    return;
  }
  const raw = typeof evidence === 'string' ? evidence : JSON.stringify(evidence) ?? 'nothing';
  const short = raw.length > 1500 ? `${raw.slice(0, 1500)}…` : raw;
  console.log(`FAILED ${name} ${transport} ${what}: ${short}`);
  process.exitCode = 1;
}

const names = (tools) => (Array.isArray(tools) ? tools.map((tool) => tool.name).sort() : []);
const texts = (result) =>
  (result?.content ?? []).filter((block) => block.type === 'text').map((block) => block.text);
const json = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

function conversation() {
  if (seen.connected?.thrown) {
    check('connects', false, seen.connected);
    return;
  }
  check(`speaks ${VERSIONS[era]}`, seen.version === VERSIONS[era], seen.version);
  check(
    'is offered tools and resources',
    seen.capabilities?.tools && seen.capabilities?.resources,
    seen.capabilities,
  );
  check(
    'lists the tools',
    TOOLS.every((tool) => names(seen.tools).includes(tool)),
    seen.tools,
  );
  check(
    'sees the contract of each tool',
    Array.isArray(seen.tools) &&
      seen.tools.every(
        (tool) =>
          tool.description &&
          tool.inputSchema?.type === 'object' &&
          tool.outputSchema?.type === 'object' &&
          tool.annotations,
      ),
    seen.tools,
  );
  check(
    'calls a tool',
    !seen.echo.isError && isDeepStrictEqual(seen.echo.structuredContent, ECHO),
    seen.echo,
  );
  check(
    'gets the answer as text too',
    texts(seen.echo).some((text) => isDeepStrictEqual(json(text), ECHO)),
    seen.echo,
  );
  const links = (seen.write.content ?? []).filter((block) => block.type === 'resource_link');
  check(
    'gets a link to an artifact',
    !seen.write.isError && links.length === 1 && LINK.test(links[0].uri),
    seen.write,
  );
  check('reads the artifact', seen.read?.contents?.[0]?.text === 'Grüße', seen.read);
  check(
    'is told what is wrong with its arguments',
    seen.refused.isError === true && texts(seen.refused).some((text) => text.includes('/n')),
    seen.refused,
  );
  check(
    'gets an error for a tool that is not there',
    seen.unknown.thrown?.includes('no_such_tool') && seen.unknown.code === -32602,
    seen.unknown,
  );
  check('lists the resources', Array.isArray(seen.resources?.resources), seen.resources);
  if (era === 'legacy') check('pings', seen.ping && !seen.ping.thrown, seen.ping);
  check('lists one toolset', isDeepStrictEqual(names(seen.toolset), TOOLSET), seen.toolset);
  check('has nothing to complain about', seen.complaints.length === 0, seen.complaints);
}

function inspector() {
  const { list, echo, refused } = seen;
  check(
    'finds the schemas portable',
    list.exit === 0 &&
      list.stderr === '' &&
      TOOLS.every((tool) => names(json(list.stdout)?.result?.tools).includes(tool)),
    list,
  );
  check(
    'calls a tool',
    echo.exit === 0 && isDeepStrictEqual(json(echo.stdout)?.result?.structuredContent, ECHO),
    echo,
  );
  // 5 is its code for a result that is an error.
  check(
    'is told what is wrong with its arguments',
    refused.exit === 5 && texts(json(refused.stdout)?.result).some((text) => text.includes('/n')),
    refused,
  );
}

// A client may be gone before the process that it started.
async function witness() {
  const list = (end) =>
    existsSync(reports) ? readdirSync(reports).filter((entry) => entry.endsWith(end)) : [];
  const deadline = performance.now() + 5000;
  while (list('.running').length > 0 && performance.now() < deadline) await sleep(20);

  const runs = list('.json').map((entry) => json(readFileSync(join(reports, entry), 'utf8')));
  const noise = runs.flatMap((run) => run.noise);
  check('has only messages on stdout', runs.length > 0 && noise.length === 0, noise);
  check(
    'lets the process end by itself',
    list('.running').length === 0 && runs.every((run) => run.exit === 0 && run.seconds < 2),
    runs,
  );
}

if (seen.list) inspector();
else conversation();
if (reports) await witness();
