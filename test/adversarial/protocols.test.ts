import t from 'tap'
import { a2aProtocol } from '../../daemon/a2a/endpoint.ts'
import { skillsOf } from '../../daemon/agents/skills.ts'
import { toolsOf } from '../../daemon/agents/tools.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { mcp } from '../../daemon/mcp/endpoint.ts'
import { chooseSeed, createSeededRandom } from '../support/seeded-random.ts'
import { sized } from '../support/soak.ts'
import { openBed, openGarden } from './operations/emitted.ts'
import type { Canary } from './operations/planted.ts'
import { PLANTED } from './operations/planted.ts'
import type { Compared, Over, Pair } from './protocols/compared.ts'
import { OVER_A2A, OVER_MCP, compare } from './protocols/compared.ts'
import { delegationChecks } from './protocols/delegation.ts'
import { injectionChecks, plantTexts } from './protocols/injection.ts'
import { readOffered } from './protocols/offered.ts'
import { revokeWhileWaiting } from './protocols/revocation.ts'
import { openCounter, openTwin } from './protocols/twins.ts'
import { PROTOCOLS } from './rows/protocols.ts'
import { runSection } from './run.ts'

/** Kinds of keys that ask for each tool and each skill, beside the one that may do everything. */
const KINDS_OF_TOOL = sized(1, 12, 100)
const KINDS_OF_SKILL = sized(12, 30, 100)

const SERVED = FAMILIES.filter(({ name }) => name !== 'accounts')
const TOOLS = toolsOf(SERVED)
const SKILLS = skillsOf(TOOLS).map(({ tool }) => tool)

/** Tools that are never allowed here, and why; of these statuses the other protocol is told, too. */
const NEVER_ALLOWED: Readonly<Record<string, string>> = {
  apps_restore: 'no app is archived before it',
  edits_cancel: 'the known edit has ended',
  files_retry: 'the known file is processed',
  deploy_publish: 'a rollback is in progress; C02 publishes',
  deploy_cancel: 'the known deployment has ended',
  settings_update_domain: 'the known domain is not verified',
  keys_rotate: 'the known key holds as much as those that ask',
  keys_end_previous: 'the known key was not rotated',
}

const own: Canary = (family) => `planted-${family}-own`
const foreign: Canary = (family) => `planted-${family}-foreign`

/** Values that give access. */
const VALUE = /\b(?:service_dk_\w{20,}|whsec_[\w+/=]{20,})|planted-secrets-own/g
const ERROR = /^\{"jsonrpc":"2.0","id":1,"error":/

/** The one result that shows a new value. */
const SHOWS: readonly string[] = [
  'keys_create',
  'keys_rotate',
  'webhooks_create',
  'webhooks_rotate_secret',
]

const seed = chooseSeed()
t.comment(`SEED=${seed}`)
const random = createSeededRandom(seed)

await t.test('what MCP and A2A allow', async (t) => {
  const walk = await openGarden(t, [], [mcp, a2aProtocol(SERVED)])
  const { garden } = walk
  const { world } = garden
  const { store, clock } = world.platform
  const counter = await openCounter(t)
  const other = await openBed(garden, foreign, '*:*')
  const open = async (change?: (id: string) => Promise<unknown>): Promise<Pair> => ({
    rest: await openTwin(garden, own, change),
    over: await openTwin(garden, own, change),
    foreign: other.ids,
    counter,
  })
  const pair = await open()
  const skilled = await open()
  const ended: readonly Pair[] = [
    await open((id) => store.write((tx) => tx.accounts.setPlan(id, 'free', clock.now()))),
    await open((id) => store.write((tx) => tx.accounts.setSuspended(id, true, clock.now()))),
  ]
  const texts = await plantTexts(garden)
  await walk.rest()
  t.teardown(() => counter.close())

  const said: (readonly [what: string, text: string])[] = []
  async function run(one: Pair, tools: typeof TOOLS, over: Over, kinds: number): Promise<Compared> {
    const compared = await compare(one, tools, over, random, kinds)
    const { calls, refused, allowed, faults } = compared
    t.comment(`${calls} calls of ${tools.length}, ${refused} refused; ${allowed.size} allowed`)
    t.same(faults, [])
    said.push(...compared.said)
    return compared
  }

  await runSection(t, PROTOCOLS, {
    async C01(t, saw) {
      const { allowed, outcomes } = await run(pair, TOOLS, OVER_MCP, KINDS_OF_TOOL)
      const never = TOOLS.map(({ name }) => name).filter((name) => !allowed.has(name))
      t.same(never, Object.keys(NEVER_ALLOWED), {
        outcomes: never.map((name) => [name, ...(outcomes.get(name) ?? [])]),
      })
      saw('the same')
    },
    async C02(t, saw) {
      const { allowed } = await run(skilled, SKILLS, OVER_A2A, KINDS_OF_SKILL)
      const never = SKILLS.map(({ name }) => name).filter((name) => !allowed.has(name))
      t.same(never, ['deploy_rollback'], 'a publication is in progress')
      saw('the same')
    },
    async C03(t, saw) {
      const some = TOOLS.filter(() => random.oneIn(sized(6, 1)))
      for (const one of ended) {
        const mcp = await run(one, some, OVER_MCP, 0)
        const a2a = await run(one, SKILLS, OVER_A2A, 0)
        t.ok(mcp.refused > 0 && a2a.refused > 0)
      }
      saw('the same')
    },
    async C04(t, saw) {
      const key = await skilled.over.keyOf('*:*')
      const offered = await readOffered(world, key, skilled.over.bed.ids)
      const read = offered.filter(
        ([what, text]) => what.startsWith('resources/read') && !ERROR.test(text),
      )
      const prompts = offered.filter(([what]) => what.startsWith('prompts/get'))
      t.comment(`${read.length} resources, ${prompts.length} prompts`)
      t.ok(read.length > 0 && prompts.length > 0)
      said.push(...offered)
      const beyond = await readOffered(world, key, other.ids)
      const found = [...said, ...beyond].filter(([, text]) =>
        PLANTED.some((family) => text.includes(foreign(family))),
      )
      t.same(found, [])
      saw('nothing else')
    },
    async C05(t, saw) {
      const shown = said.filter(([what, text]) => !SHOWS.includes(what) && text.match(VALUE))
      t.same(shown, [])
      const texts = said.filter(([what]) => SHOWS.includes(what)).map(([, text]) => text)
      t.ok(
        texts.some((text) => VALUE.test(text)),
        'it would be found',
      )
      saw('nothing else')
    },
    C06: (t, saw) => revokeWhileWaiting(t, saw, skilled.rest),
    ...injectionChecks(world, texts),
    ...delegationChecks(world),
  })
})
