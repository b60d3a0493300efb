import { writeOperation } from '../../../family.ts'
import { appError } from '../errors.ts'
import { bear, keepFiles } from '../birth.ts'
import { appCreation, appRecord, exampleApp, toWireApp } from '../schema.ts'
import { bytesOf } from '../service.ts'
import { readTemplates } from '../templates.ts'

export const createApp = writeOperation({
  id: 'apps.create',
  summary: 'Create an app from a template',
  method: 'POST',
  path: '/v1/apps',
  access: { scope: 'apps:write', pinned: 'refused' },
  input: { body: appCreation },
  output: appRecord,
  status: 201,
  errors: [
    'template_not_found',
    'alias_taken',
    'app_limit_reached',
    'key_pinned',
    'capability_unavailable',
  ],
  example: {
    body: { template_id: 'landing', name: 'Shop', alias: 'shop' },
    response: exampleApp,
  },
  command: 'app create',
  /** Bytes come before the row that names them: of an app that is refused after all, they are collected. */
  async prepare({ platform, body }) {
    const template = (await readTemplates()).find(({ id }) => id === body.template_id)
    if (template === undefined) throw appError('template_not_found')
    const kept = await keepFiles(bytesOf(platform), platform.random, template.files)
    return { name: template.name, kept }
  },
  async run(call) {
    const { name, kept } = call.prepared
    const app = await bear(call, kept, {
      name: call.body.name ?? name,
      alias: call.body.alias ?? null,
      metadata: call.body.metadata ?? {},
      source: { kind: 'template', template_id: call.body.template_id, cloned_from: null },
    })
    return toWireApp(app)
  },
})
