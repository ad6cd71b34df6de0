// The TypeScript SDK 2: it speaks legacy unless told to look for the modern era.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { converse } from './conversation.mjs';

await converse(async (era, { url, command, args }) => {
  const mode = era === 'modern' ? 'auto' : 'legacy';
  const client = new Client(
    { name: 'toolgate-tests', version: '1' },
    { versionNegotiation: { mode } },
  );
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args });
  await client.connect(transport);
  return { client, transport, version: () => client.getNegotiatedProtocolVersion() };
});
