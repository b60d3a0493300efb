/** What the files of a client say of this service. */
export interface AgentServer {
  /** Name of the server in the file. */
  readonly name: string
  /** Address of its tools. */
  readonly url: string
  /** Environment variable that holds the key: files of a project are committed, and never hold it. */
  readonly variable: string
}

/** A configuration file of a client. */
export interface AgentFile {
  readonly client: ClientName
  readonly title: string
  /** Relative to the folder of the project. */
  readonly path: string
  readonly text: string
  readonly note?: string
}

export const CLIENTS = ['claude-code', 'cursor', 'vscode', 'codex'] as const

export type ClientName = (typeof CLIENTS)[number]

type FileOf = (server: AgentServer) => Omit<AgentFile, 'client'>

const FILES: Readonly<Record<ClientName, FileOf>> = {
  'claude-code': ({ name, url, variable }) => ({
    title: 'Claude Code',
    path: '.mcp.json',
    text: print({
      mcpServers: { [name]: { type: 'http', url, headers: bearer(`\${${variable}}`) } },
    }),
  }),
  cursor: ({ name, url, variable }) => ({
    title: 'Cursor',
    path: '.cursor/mcp.json',
    text: print({ mcpServers: { [name]: { url, headers: bearer(`\${env:${variable}}`) } } }),
  }),
  vscode: ({ name, url, variable }) => ({
    title: 'VS Code',
    path: '.vscode/mcp.json',
    text: print({
      inputs: [
        { id: variable, type: 'promptString', description: 'Developer key', password: true },
      ],
      servers: { [name]: { type: 'http', url, headers: bearer(`\${input:${variable}}`) } },
    }),
    note: 'VS Code asks for the key once, and keeps it in its secret store.',
  }),
  codex: ({ name, url, variable }) => ({
    title: 'Codex',
    path: '.codex/config.toml',
    // A JSON string is a string of TOML.
    text: [
      `[mcp_servers.${JSON.stringify(name)}]`,
      `url = ${JSON.stringify(url)}`,
      `bearer_token_env_var = ${JSON.stringify(variable)}`,
      '',
    ].join('\n'),
  }),
}

/** The configuration files of these clients. */
export function agentFiles(
  clients: readonly ClientName[],
  server: AgentServer,
): readonly AgentFile[] {
  return clients.map((client) => ({ client, ...FILES[client](server) }))
}

function bearer(reference: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${reference}` }
}

function print(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
