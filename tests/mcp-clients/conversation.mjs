// What the TypeScript clients do with a server. Nothing is judged here: what was seen is
// printed as one JSON document, and `expectations.mjs` judges it. `python.py` does the same.
//
//   node CLIENT.mjs ERA http URL
//   node CLIENT.mjs ERA stdio COMMAND…

// `connect(era, door)` gives `{ client, transport, version }`; a door is `{ url }` or
// `{ command, args }`.
export async function converse(connect) {
  const [era, transport, ...target] = process.argv.slice(2);
  const http = transport === 'http';
  const [command, ...args] = target;
  const everything = http ? { url: target[0] } : { command, args };
  const toolset = http
    ? { url: `${target[0]}/autosage` }
    : { command, args: [...args, '--toolset', 'autosage'] };

  const seen = { complaints: [] };
  seen.connected = await attempt(() =>
    visit(() => connect(era, everything), seen.complaints, async ({ client, version }) => {
      seen.version = version();
      seen.capabilities = client.getServerCapabilities();
      seen.tools = await attempt(() => allTools(client));
      seen.echo = await call(client, 'echo_json', { message: 'hello', n: 2 });
      seen.write = await call(client, 'write_text_artifact', { text: 'Grüße', filename: 'note.txt' });
      const link = seen.write.content?.find((block) => block.type === 'resource_link');
      seen.read = link && (await attempt(() => client.readResource({ uri: link.uri })));
      seen.refused = await call(client, 'echo_json', { message: 'hello', n: 65 });
      seen.unknown = await call(client, 'no_such_tool', {});
      seen.resources = await attempt(() => client.listResources());
      // The era of 2026-07-28 has no ping.
      if (era === 'legacy') seen.ping = await attempt(() => client.ping());
    }),
  );
  seen.toolset = await attempt(() =>
    visit(() => connect(era, toolset), seen.complaints, ({ client }) => allTools(client)),
  );
  console.log(JSON.stringify(seen));
}

async function visit(open, complaints, work) {
  const connection = await open();
  const { client, transport } = connection;
  client.onerror = (error) => complaints.push(String(error));
  try {
    return await work(connection);
  } finally {
    // As a host does when it quits; only HTTP in the legacy era has a session to end.
    const ended = await attempt(() => transport.terminateSession?.());
    if (ended?.thrown) complaints.push(`ending the session: ${ended.thrown}`);
    // That its own stream breaks off now is no complaint.
    client.onerror = undefined;
    await client.close();
  }
}

async function allTools(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

const call = (client, name, args) => attempt(() => client.callTool({ name, arguments: args }));

async function attempt(step) {
  try {
    return await step();
  } catch (error) {
    return { thrown: String(error), code: error?.code };
  }
}
