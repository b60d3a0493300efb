import { z } from 'zod'
import type { AppRecord } from '../../../../plugins/platform/contract/apps.ts'
import type { Call, WriteCall } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { dryRun } from '../../../billing/dry-run.ts'
import { accountOf } from '../../../authority/principal.ts'
import { httpError } from '../../../operations/errors.ts'
import type { AppMaking, Platform } from '../../../platform.ts'
import { applyOperations } from '../../../trees/apply.ts'
import { toWrite, FILES_BODY_LIMIT } from '../given-file.ts'
import { toRefusal } from '../../../trees/errors.ts'
import type { KeptApp } from '../new-app.ts'
import { insertApp, dropKept, keepFiles } from '../new-app.ts'
import { appError } from '../errors.ts'
import { creationForm } from '../form.ts'
import { appCreation, createdApp, exampleApp, PREVIEW } from '../schema.ts'
import { requireFreeAlias, requireAppQuota } from '../service.ts'
import { showApp } from '../show.ts'
import type { TemplateFile } from '../templates.ts'
import { readTemplates } from '../templates.ts'
import { waitUntil } from '../../wait.ts'
import { wait } from '../../wire.ts'
import { digestOf } from '../../../trees/tree.ts'
import { applyInTurn } from '../../../trees/applying-queue.ts'

const input = { query: z.strictObject({ wait }), body: appCreation, form: creationForm }

/** Stored files of a new app, and its default name. */
export interface Prepared {
  readonly name: string
  readonly kept: KeptApp
}

export const createApp = operation({
  effect: 'write',
  id: 'apps.create',
  summary: 'Create an app from a template at once, or from a prompt',
  method: 'POST',
  path: '/v1/apps',
  access: { scope: 'apps:write', pinned: 'refused' },
  agent: {
    toolset: 'apps',
    default: true,
    openWorld: true,
    follow: ({ id, edit_id }) =>
      typeof edit_id === 'string' ? `/v1/apps/${String(id)}/edits/${edit_id}` : undefined,
    skill: {
      name: 'Build an app',
      tags: ['app', 'create', 'website'],
      examples: ['Build a landing page for a bakery with opening hours and a contact form.'],
      text: 'prompt',
      artifacts: [PREVIEW],
    },
  },
  emits: ['apps'],
  input,
  output: createdApp,
  status: 201,
  accepted: ({ status }) => status === 'creating',
  watch: ({ id }) => `/v1/apps/${id}`,
  errors: [
    'invalid_source',
    'template_not_found',
    'model_not_allowed',
    'path_not_allowed',
    'app_too_large',
    'alias_reserved',
    'alias_taken',
    'app_limit_reached',
    'insufficient_balance',
    'key_pinned',
    'model_not_configured',
    'capability_unavailable',
  ],
  example: {
    body: { template_id: 'landing', name: 'Shop', alias: 'shop' },
    response: { ...exampleApp, publish_state: 'never', current_deployment_id: null },
    accepted: {
      ...exampleApp,
      publish_state: 'never',
      current_deployment_id: null,
      status: 'creating',
      source: { kind: 'prompt', template_id: null, cloned_from: null },
      edit_id: '01890a5d-ac96-774b-bcce-b302099a8057',
    },
  },
  quote: dryRun<typeof input>(async (call) => {
    await requireAllowed(call)
    const { prompt, files, template_id } = call.body
    const priced = { operation: 'apps.create', app_id: null }
    if (prompt === undefined) {
      await findTemplate(template_id ?? '')
      return { ...priced, quantities: [] }
    }
    if (files !== undefined) {
      await applyInTurn(call, undefined, (signal) => applyGiven(files, signal))
    }
    return { ...priced, quantities: [1] }
  }),
  command: 'app create',
  bodyLimit: FILES_BODY_LIMIT,
  /** Bytes are stored before the row that references them; when the app is refused, they are deleted. */
  async prepare(call) {
    await requireAllowed(call)
    const { template_id, prompt } = call.body
    if (prompt !== undefined) return prepareWished(call, prompt)
    const template = await findTemplate(template_id ?? '')
    return { name: template.name, kept: await keep(call, template.files) }
  },
  discard: ({ platform }, { kept }) => dropKept(platform, kept),
  onUnknownOutcome: ({ platform }, { kept }) => platform.workAvailable.bytes(kept.id),
  run: (call) => (call.body.prompt === undefined ? createReady(call) : createWished(call)),
  async afterCommit(call, committed) {
    const { platform, principal, query } = call
    const { apps, deployments } = platform.store
    const seconds = query.wait ?? 0
    if (committed.status !== 'creating' || seconds === 0) return committed
    const look = () => apps.get(accountOf(principal), committed.id)
    const first = await look()
    if (first === undefined) return committed
    const isMade = ({ status }: AppRecord): boolean => status !== 'creating'
    const app = await waitUntil(call, seconds, first, isMade, look)
    return { ...committed, ...(await showApp(platform, deployments, app)) }
  },
})

/**
 * Refuses an app that cannot be created, before anything is stored; the unit of work checks quota and alias again.
 *
 * @throws KeyhookError
 */
async function requireAllowed({
  platform,
  principal,
  body,
}: Pick<Call<typeof input>, 'platform' | 'principal' | 'body'>): Promise<void> {
  const { template_id, prompt, files, model, alias } = body
  if ((template_id === undefined) === (prompt === undefined)) throw appError('invalid_source')
  if (prompt !== undefined) makingOf(platform).require(platform, model)
  else if (files !== undefined || model !== undefined) throw appError('invalid_source')
  const { apps } = platform.store
  const account_id = accountOf(principal)
  await requireAppQuota(apps, account_id)
  if (typeof alias !== 'string') return
  const request = { account_id, app_id: '', now: platform.clock.now() }
  await requireFreeAlias(platform, apps, alias, request)
}

async function findTemplate(wanted: string) {
  const template = (await readTemplates()).find(({ id }) => id === wanted)
  if (template === undefined) throw appError('template_not_found')
  return template
}

function keep({ platform }: Pick<Call, 'platform'>, files: readonly TemplateFile[]) {
  return keepFiles(platform, files)
}

async function prepareWished(call: Call<typeof input>, prompt: string): Promise<Prepared> {
  const { files } = call.body
  const name = nameOf(prompt)
  if (files === undefined) {
    return { name, kept: await keep(call, (await findTemplate('blank')).files) }
  }
  return {
    name,
    kept: await applyInTurn(call, undefined, (signal) => keepGiven(call, files, signal)),
  }
}

/**
 * Creation from prompts.
 *
 * @throws KeyhookError `capability_unavailable` without it
 */
function makingOf({ appExtensions }: Pick<Platform, 'appExtensions'>): AppMaking {
  const making = appExtensions.find((one) => one.making !== undefined)?.making
  if (making === undefined) throw httpError('capability_unavailable')
  return making
}

type GivenFiles = NonNullable<Call<typeof input>['body']['files']>

/** The tree of a prompt's files: up to 16 MiB to decode, check and hash, as for an edit. */
async function applyGiven(files: GivenFiles, signal: AbortSignal) {
  const noBase = () => Promise.reject(new Error('no base'))
  const applied = await applyOperations(EMPTY, files.map(toWrite), noBase, signal)
  if (!('tree' in applied)) throw toRefusal(applied, 'body.files')
  return applied
}

async function keepGiven(
  call: Call<typeof input>,
  files: GivenFiles,
  signal: AbortSignal,
): Promise<KeptApp> {
  const applied = await applyGiven(files, signal)
  const bytes = new Map(applied.fresh.map((one) => [digestOf(one), one]))
  const given = [...applied.tree.files.values()].map(({ path, sha256 }) => ({
    path,
    bytes: bytes.get(sha256) ?? new Uint8Array(),
  }))
  return keep(call, given)
}

const EMPTY = { files: new Map(), config: new Map() } as const

const MAX_NAME = 60

/** The first words of a prompt, on one line. */
function nameOf(prompt: string): string {
  const line = prompt.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()
  if (line.length <= MAX_NAME) return line || 'App'
  const cut = line.slice(0, MAX_NAME).replace(/[\uD800-\uDBFF]$/, '')
  return `${cut.replace(/ \S*$/, '')}…`
}

type Creation = WriteCall<typeof input, Prepared>

function given({ body, prepared }: Creation) {
  return {
    name: body.name ?? prepared.name,
    alias: body.alias ?? null,
    metadata: body.metadata ?? {},
  }
}

async function createReady(call: Creation) {
  const template_id = call.body.template_id ?? null
  const source = { kind: 'template', template_id, cloned_from: null } as const
  const app = await insertApp(call, call.prepared.kept, { ...given(call), source })
  return showApp(call.platform, call.tx.deployments, app)
}

/** Inserts the app and the edit that will make it; the event names both. */
async function createWished(call: Creation) {
  const { prompt = '', files, model = null } = call.body
  const kind = files === undefined ? 'prompt' : 'prompt_files'
  const source = { kind, template_id: null, cloned_from: null } as const
  const edit_id = call.platform.newId()
  const app = await insertApp(call, call.prepared.kept, { ...given(call), source }, edit_id)
  await makingOf(call.platform).begin(call, app, { id: edit_id, prompt, model })
  return { ...(await showApp(call.platform, call.tx.deployments, app)), edit_id }
}
