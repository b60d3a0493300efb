/** What of the suite does not apply to this service. */
export interface Exclusion {
  readonly scenarios: readonly string[]
  /** Checks that do not apply. Default: all that do not pass. */
  readonly checks?: readonly string[]
  /** A reason that a third party can judge. */
  readonly reason: string
}

/**
 * The suite drives a demonstration server that has every feature of the protocol. An optional feature that
 * a server neither has nor declares is none that it can break.
 */
export const EXCLUSIONS: readonly Exclusion[] = [
  {
    scenarios: ['completion-complete'],
    reason: 'Completion is an optional capability, which the server does not declare.',
  },
  {
    scenarios: ['logging-set-level', 'tools-call-with-logging'],
    reason:
      'Logging is an optional capability, which the server does not declare; the newest revision removed its method.',
  },
  {
    scenarios: ['resources-subscribe', 'resources-unsubscribe'],
    reason:
      'Subscriptions to resources are an optional capability, which the server does not declare; the newest revision removed their methods.',
  },
  {
    scenarios: ['server-stateless'],
    checks: ['sep-2575-server-sends-prompts-list-changed-on-subscription'],
    reason: 'Prompts never change while a key is used: prompts.listChanged is not declared.',
  },
  {
    scenarios: ['server-stateless'],
    checks: [
      'sep-2575-server-rejects-undeclared-capability',
      'sep-2575-missing-capability-http-400',
    ],
    reason:
      'No tool needs a capability of its client, so there is no call that the server must refuse for a missing one.',
  },
  {
    scenarios: [
      'input-required-result-basic-elicitation',
      'input-required-result-basic-list-roots',
      'input-required-result-basic-sampling',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
      'input-required-result-missing-input-response',
      'input-required-result-multi-round',
      'input-required-result-multiple-input-requests',
      'input-required-result-non-tool-request',
      'input-required-result-request-state',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
    ],
    reason:
      'A server may ask its client for input (SEP-2322). This one never does: a call has all it needs in its arguments, or is refused with what is missing.',
  },
  {
    scenarios: [
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
      'tools-call-elicitation',
      'tools-call-sampling',
    ],
    reason:
      'The same in the older revisions: no tool asks its client for input or for a completion.',
  },
  {
    scenarios: [
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-image',
      'tools-call-mixed-content',
    ],
    reason:
      'A tool answers what its operation answers, which is a JSON object as text and as structured content. There is none whose result is an image, a sound or a resource.',
  },
  {
    scenarios: ['resources-read-binary', 'resources-read-text', 'resources-templates-read'],
    reason:
      'They read the fixed addresses test://static-text, test://static-binary and test://template/…: every resource here is a record of an account under keyhook:. Listing, templates, caching and the error of an unknown address are run.',
  },
  {
    scenarios: [
      'prompts-get-embedded-resource',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-with-image',
    ],
    reason:
      'They get prompts by the names test_simple_prompt and so on: prompts are a fixed list here, which no operation adds to.',
  },
  {
    scenarios: ['json-schema-2020-12'],
    reason:
      'Not scored by the suite (pending). It wants one tool with a given schema of if, then, else and $anchor; schemas of tools are derived from operations, which need none of them.',
  },
  {
    scenarios: ['http-custom-header-server-validation'],
    reason:
      'Not scored by the suite (pending). No tool declares x-mcp-header, which is optional: arguments never travel as headers.',
  },
  {
    scenarios: [
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
    reason:
      'Not scored by the suite (extension). The Tasks extension is not offered: long work is a record that is read again, in every protocol.',
  },
  {
    scenarios: ['server-sse-multiple-streams', 'server-sse-polling'],
    checks: [
      'server-sse-multiple-streams-session',
      'server-sse-polling-session',
      'server-sse-priming-event',
      'server-sse-retry-field',
    ],
    reason:
      'Sessions and resumable streams are optional in the older revisions. The server is stateless: what a lost response said is read again, or asked for again with its idempotency_key.',
  },
]
