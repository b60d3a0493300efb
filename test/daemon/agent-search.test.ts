import t from 'tap'
import { findTools } from '../../daemon/agents/find-tools.ts'
import { toolsOf } from '../../daemon/agents/tools.ts'
import { FAMILIES } from '../../daemon/families/index.ts'

const tools = toolsOf(FAMILIES)

/** What a person might type, and the operation that they mean. */
const WANTED: Readonly<Record<string, string>> = {
  'create webhook': 'webhooks_create',
  'Create a webhook!': 'webhooks_create',
  'publish app': 'deploy_publish',
  'rollback deployment': 'deploy_rollback',
  'upload knowledge files': 'files_upload',
  'list templates': 'apps_templates',
  'rotate key': 'keys_rotate',
  'revoke a developer key': 'keys_revoke',
  'show prices': 'billing_pricing',
  'diff of an edit': 'edits_diff',
  'add domain': 'settings_create_domain',
  'log lines of deployment': 'deploy_logs',
  'retry delivery': 'webhooks_retry_delivery',
  'health of an app': 'observe_health',
}

await t.test('a search finds what its words mean among the first five', async (t) => {
  for (const [words, wanted] of Object.entries(WANTED)) {
    const found = findTools(tools, words).map(({ tool }) => tool.name)
    t.ok(found.slice(0, 5).includes(wanted), `${words}: ${found.slice(0, 5).join()}`)
  }
})

await t.test('a search of no tool, and of short words, finds nothing', async (t) => {
  for (const words of ['', ' ', 'zebra', 'an of', '%', '🥐']) {
    t.same(findTools(tools, words), [], words)
  }
})
