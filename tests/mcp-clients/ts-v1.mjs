// The TypeScript SDK before 2.0: it knows only the legacy era, and most hosts use it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { converse } from './conversation.mjs';

await converse(async (era, { url, command, args }) => {
  const client = new Client({ name: 'toolgate-tests', version: '1' });
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args });
  // This client tells the negotiated version to its transport and to nobody else.
  let version;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (negotiated) => {
    version = negotiated;
    tell?.(negotiated);
  };
  await client.connect(transport);
  return { client, transport, version: () => version };
});
