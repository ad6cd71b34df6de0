// The command line of the Inspector, one process for each call.
//
//   node inspector.mjs ERA http URL
//   node inspector.mjs ERA stdio COMMAND…
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(
  new URL(
    'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    import.meta.url,
  ),
);
const [era, transport, ...target] = process.argv.slice(2);

function inspect(...options) {
  const common = ['--cli', '--protocol-era', era, '--format', 'json', '--quiet', ...options];
  const server = transport === 'http' ? [...target, '--transport', 'http'] : ['--', ...target];
  const args = [program, ...common, ...server];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve({ exit: error ? error.code : 0, stderr, stdout });
    });
  });
}

const call = (args) =>
  inspect('--method', 'tools/call', '--tool-name', 'echo_json', '--tool-args-json', JSON.stringify(args));

console.log(
  JSON.stringify({
    list: await inspect('--method', 'tools/list', '--strict'),
    echo: await call({ message: 'hello', n: 2 }),
    refused: await call({ message: 'hello', n: 65 }),
  }),
);
