import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { FileProcessor } from '../../plugins/files/contract.ts'
import { fileError } from '../../plugins/files/contract.ts'
import { createFileProcessor } from '../../plugins/files/extract.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import { docxParts, paragraph, pdfOf, zipOf } from '../support/documents.ts'
import { memory, openWorld, scripted, until } from '../support/processing.ts'
import { signal } from '../support/signal.ts'

await t.test('documents are read, found by search, and told of once each', async (t) => {
  const { start, send, ended, search, events, app } = await openWorld(t, createFileProcessor())
  start()
  const pdf = await send(
    pdfOf(['The well is forty metres deep.', 'It was dug in spring.']),
    'well.pdf',
  )
  const docx = await send(
    zipOf(docxParts(paragraph('Opening hours', 'Heading1') + paragraph('Nine to five, né.'))),
    'hours.docx',
  )
  t.match(await ended(pdf), {
    status: 'processed',
    content_type: 'application/pdf',
    stage: null,
    progress: null,
    error: null,
    attempts: 1,
    processed_at: String,
  })
  t.match(await ended(docx), { status: 'processed', characters: Number })
  t.match(await search('METRES deep'), [{ file_id: pdf, name: 'well.pdf', page: 1, text: /forty/ }])
  t.match(await search('hours ne'), [{ file_id: docx, heading: 'Opening hours' }])
  t.same(await search('wall'), [])
  const told = [...(await events())].sort(
    (a, b) => Number(a.data['chunks']) - Number(b.data['chunks']),
  )
  t.same(told, [
    { type: 'file.processed', data: { app_id: app, file_id: docx, chunks: 1, charged_micros: 0 } },
    { type: 'file.processed', data: { app_id: app, file_id: pdf, chunks: 2, charged_micros: 0 } },
  ])
  t.equal(told.length, 2)
})

await t.test(
  'what stands against the file fails it at once, until it is asked for again',
  async (t) => {
    const { start, send, ended, get, request, app, events, search } = await openWorld(
      t,
      scripted((call) => {
        if (call === 1) throw fileError('damaged', { internal: 'of no concern' })
      }).processor,
    )
    start()
    const id = await send('a well')
    t.match(await ended(id), {
      status: 'failed',
      attempts: 1,
      chunks: null,
      error: { code: 'damaged', message: fileError.rows.damaged.text },
    })
    t.same(await search('well'), [])
    const retried = await request('POST', `/v1/apps/${app}/files/${id}/retry`)
    t.match(retried, { status: 202, body: { status: 'queued', error: null, attempts: 0 } })
    t.match(await ended(id), { status: 'processed', attempts: 1 })
    t.match(await search('well'), [{ text: 'a well' }])
    t.match(await events(), [
      { type: 'file.failed', data: { file_id: id, error: { code: 'damaged' } } },
      { type: 'file.processed', data: { file_id: id, chunks: 1, charged_micros: 0 } },
    ])
    t.match(await request('POST', `/v1/apps/${app}/files/${id}/retry`), {
      status: 409,
      body: { error: { code: 'file_not_failed' } },
    })
    t.match(await get(id), { status: 'processed' })
  },
)

await t.test('what stands against the machine is tried again, three times in all', async (t) => {
  const fails = new Set([1, 2])
  const { processor, seen } = scripted((call) => {
    if (fails.has(call)) throw new Error('no memory')
  })
  const { start, send, ended, events } = await openWorld(t, processor)
  start({ again: 0 }, 5)
  t.match(await ended(await send('one')), { status: 'processed', attempts: 3 })
  for (const call of [4, 5, 6]) fails.add(call)
  t.match(await ended(await send('two', 'b.md')), {
    status: 'failed',
    attempts: 3,
    error: { code: 'processor_failed' },
  })
  t.equal(seen.calls, 6)
  t.same(
    (await events()).map(({ type }) => type),
    ['file.processed', 'file.failed'],
  )
})

await t.test(
  'a file that is deleted while it is processed leaves nothing, and tells nothing',
  async (t) => {
    const { promise: held, resolve: go } = signal()
    const { processor, seen } = scripted(() => held)
    const { start, send, request, app, search, events, upload } = await openWorld(t, processor)
    const worker = start()
    const id = await send('a well')
    await until(() => seen.running === 1)
    const deleted = await request('DELETE', `/v1/apps/${app}/files/${id}`)
    t.match(deleted, { status: 200, body: { id, status: 'processing' } })
    go()
    await until(() => seen.running === 0)
    await worker.stop()
    t.match(await request('GET', `/v1/apps/${app}/files/${id}`), {
      status: 404,
      body: { error: { code: 'file_not_found' } },
    })
    t.same(await search('well'), [])
    t.same(await events(), [])
    t.not((await upload([['a.md', 'a well']])).body.data[0]?.id, id)
  },
)

await t.test('a long file is kept in pieces and found whole', async (t) => {
  const { start, send, ended, search } = await openWorld(t, createMemoryFileProcessor())
  start()
  const words = Array.from(
    { length: 400 },
    (_, at) => `# Part ${at}\n\n${'word '.repeat(150)}n${at}\n`,
  )
  const file = await ended(await send(words.join('\n')))
  t.ok(Number(file['chunks']) > 300)
  t.match(await search('n0'), [{ ordinal: 0 }])
  t.match(await search('n399'), [{ heading: 'Part 399' }])
})

await t.test('how far a file is shows while it is processed', async (t) => {
  const { promise: held, resolve: go } = signal()
  const processor: FileProcessor = {
    ...memory,
    close: async () => undefined,
    async process(task, options) {
      options.stage('extract', 3, 7)
      await held
      return memory.process(task, { ...options, stage: () => undefined })
    },
  }
  const { start, send, ended, get } = await openWorld(t, processor)
  start({ beat: 5, lease: MINUTE })
  const id = await send('a well')
  await until(async () => (await get(id))['stage'] !== null)
  t.match(await get(id), {
    status: 'processing',
    stage: 'extract',
    progress: { done: 3, total: 7 },
  })
  go()
  t.match(await ended(id), { status: 'processed', stage: null, progress: null })
})
