/** Tools of one topic, which a client chooses together; a family of a third party may name its own. */
export type Toolset = (typeof TOOLSETS)[number] | (string & {})

/** The toolsets of this service, in the order of its tools. */
export const TOOLSETS = [
  'apps',
  'edits',
  'files',
  'deploy',
  'observe',
  'settings',
  'keys',
  'webhooks',
  'events',
  'billing',
  'discovery',
] as const

/** How agents use an operation, or why none is offered it. */
export type AgentUse = AgentTool | AgentOmission

export interface AgentOmission {
  /** A reason that a stranger can judge. */
  readonly omit: string
}

/** An operation as a tool; its hints derive from its effect and method. */
export interface AgentTool {
  readonly toolset: Toolset
  /** One of the tools of a client that chooses none. Default false. */
  readonly default?: true
  /** A POST that removes or replaces something. Of other methods it is known. */
  readonly destructive?: true
  /** Reaches beyond this service although its effect is not `own`: a language model or the public web. */
  readonly openWorld?: true
  /**
   * Also a resource, by its path: for reads without a body. Its content is the JSON of its response, or
   * what the function returns; undefined: the JSON.
   */
  readonly resource?: true | ((answer: WireRecord) => ResourceContent | undefined)
  /**
   * Path of the work that shows the progress of a record which has no events of its own; undefined: there
   * is none.
   */
  follow?(record: WireRecord): string | undefined
  /** Also a skill, which is asked for by a message. */
  readonly skill?: AgentSkill
}

/** Content of a resource: a text, or bytes in base64. */
export type ResourceContent =
  | { readonly mimeType: string; readonly text: string }
  | { readonly mimeType: string; readonly blob: string }

/** A record as JSON. */
export type WireRecord = Readonly<Record<string, unknown>>

/** Work that an agent asks another one for. */
export interface AgentSkill {
  /** `Change an app` */
  readonly name: string
  readonly tags: readonly string[]
  readonly examples: readonly string[]
  /** Field that the text of a message fills. Default: none, the text only names the app. */
  readonly text?: string
  /** Reads that become artifacts of a completed task; those that the key may not call are left out. */
  readonly artifacts?: readonly SkillArtifact[]
}

/** A read that becomes an artifact. */
export interface SkillArtifact {
  /** `diff` */
  readonly name: string
  /** Id of the read. */
  readonly operation: string
  /** Its fields from the record that was made; undefined: no artifact. */
  ask(record: WireRecord): Readonly<Record<string, string>> | undefined
  /** Kind of part. Default `data`: the whole response. */
  readonly as?: 'data' | 'text' | 'url' | 'raw'
  /** Media type of a part that is not data, such as `text/x-diff`. */
  readonly mediaType?: string
  readonly filename?: string
  /** Text, address or base64 bytes of a part that is not data; undefined: no artifact. */
  show?(answer: WireRecord): string | undefined
}

/** Whether agents are offered the operation. */
export function isTool(use: AgentUse): use is AgentTool {
  return 'toolset' in use
}

/**
 * Name of the tool of an operation.
 *
 * @example
 * toolName('apps.create') // 'apps_create'
 */
export function toolName(id: string): string {
  return id.replaceAll('.', '_')
}
