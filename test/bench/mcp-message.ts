/** A message of MCP and the headers that repeat it. */
export interface McpMessage {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const REVISION = '2026-07-28'
const CLIENT = { name: 'bench', version: '1.0.0' }

/** A message of the newest revision, as its clients send it. */
export function mcpMessage(
  method: string,
  params: Readonly<Record<string, unknown>> & { readonly name?: string },
): McpMessage {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, roots: {}, sampling: {} },
  }
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(params.name === undefined ? {} : { 'mcp-name': params.name }),
    },
  }
}
