import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { appBytesCases } from '../../plugins/apps/conformance.ts'
import type { AppBytes, ByteRange } from '../../plugins/apps/contract.ts'
import type { Answer, FakeS3 } from '../support/fake-s3.ts'
import { failed, startFakeS3 } from '../support/fake-s3.ts'
import { officeOf, startPacked } from '../support/office.ts'
import { packKeyhook } from '../support/packed.ts'
import { blocksOf } from '../support/page.ts'

t.setTimeout(5 * MINUTE)

const packed = await packKeyhook()
t.teardown(() => packed.remove())
// Beside it, since a daemon that starts after a kill looks there for what its dependency needs.
const folder = await packed.install(['@aws-sdk/client-s3'])
for (const { kind, text } of blocksOf('object-storage.md')) {
  const [, name] = kind.split(' ')
  if (name !== undefined) await writeFile(join(folder, name), text)
}

/** Where in an upload the daemon is killed. */
const STEPS = ['PUT part 1', 'PUT part 3', 'POST upload', 'PUT copy', 'DELETE']

await t.test('apps in object storage pass the published suite', async (t) => {
  const storage = await startFakeS3()
  t.teardown(() => storage.close())
  const env = { PATH: process.env['PATH'], ...storage.env }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['s3-suite.mjs'], { cwd: folder, env })
  t.match(stdout, /left: \[\]/)
  t.match(stdout, new RegExp(`# pass ${appBytesCases.length}\n`))
  t.match(stdout, /# fail 0/)
  t.equal(storage.unfinished(), 0)
})

await t.test('apps in a bucket outlive kills in the middle of an upload', async (t) => {
  const bucket: FakeS3 = await startFakeS3()
  t.teardown(() => bucket.close())
  const data = t.testdir()
  const env = { ...bucket.env, KEYHOOK_APPS_PLUGIN: join(folder, 's3.mjs') }
  let daemon = await startPacked(folder, data, env)
  t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
  const { id: account } = await officeOf(daemon).post<{ id: string }>('/v1/accounts', { name: 'S' })
  const { id: app } = await officeOf(daemon, account).post<{ id: string }>('/v1/apps', {
    template_id: 'blank',
  })
  const ownKeys = (): readonly string[] => [...bucket.objects.keys()].filter(isOf(app))
  t.ok(ownKeys().length > 0, 'the files of the app are in the bucket')

  for (const [at, step] of STEPS.entries()) {
    const text = `Letter ${at}. ${'A pelican flew by. '.repeat(50_000)}`
    const before = ownKeys().length
    const reached = bucket.hold(step)
    const uploading = officeOf(daemon, account)
      .upload(app, text)
      .catch(() => undefined)
    await reached
    await daemon.end('SIGKILL')
    await uploading
    const isCopied = step === 'DELETE'
    t.equal(ownKeys().length, before + Number(isCopied), `${step}: whole or not at all`)
    daemon = await startPacked(folder, data, env)
    const office = officeOf(daemon, account)
    const listed = await office.send<{ data: readonly object[] }>(`/v1/apps/${app}/files`)
    t.equal(listed.data.length, at, `${step}: no file is listed that was not uploaded`)
    const again = await office.upload(app, text)
    t.equal(again.data.length, 1, `${step}: it can be uploaded again`)
    t.equal(await office.content(app, again.data[0]?.id ?? ''), text, `${step}: whole`)
  }
  t.match(daemon.output(), /"plugin":"s3".*s3\.opened/)
  t.notMatch(daemon.output(), /secret-of-a-fake-storage/)
  t.equal(await daemon.end('SIGTERM'), 0)

  await t.test('doctor says what it needs', async (t) => {
    const run = promisify(execFile)
    const main = join(folder, 'node_modules/keyhook/dist/daemon/main.js')
    const settings = { PATH: process.env['PATH'], KEYHOOK_DATA_DIR: data, ...env }
    const { stdout } = await run(process.execPath, [main, 'doctor'], { env: settings })
    t.match(stdout, /plugin of apps +s3, which reaches the origins of its options/)
    t.match(stdout, /S3_ENDPOINT is http:\/\/127\.0\.0\.1:\d+; .*S3_SECRET_ACCESS_KEY is given/)
    t.notMatch(stdout, /secret-of-a-fake-storage/)
  })
})

const APP = 'app00001'
const LETTER = Buffer.from('A pelican flew by. '.repeat(30_000))
const bytesOf = (answer: Answer): Buffer => answer.body as Buffer

type Method = 'get' | 'put' | 'all' | 'part'

/** What a storage tells that is broken or lies, and the code of what the method then throws. */
const LIES: readonly (readonly [
  said: string,
  step: string,
  lie: (answer: Answer) => Answer,
  method: Method,
  code: string,
])[] = [
  ['lists nothing now', 'GET list', () => failed(503, 'SlowDown'), 'get', 'unavailable'],
  ['lists nothing now', 'GET list', () => failed(503, 'SlowDown'), 'put', 'unavailable'],
  ['denies', 'PUT part 1', () => failed(403, 'AccessDenied'), 'put', 'unavailable'],
  ['lost the bucket', 'GET', () => failed(404, 'NoSuchBucket'), 'get', 'unavailable'],
  ['lost the upload', 'POST upload', () => failed(404, 'NoSuchUpload'), 'put', 'unavailable'],
  ['fails after 200', 'PUT copy', () => failed(200, 'InternalError'), 'put', 'unavailable'],
  [
    'ends early',
    'GET',
    (all) => ({ ...all, body: bytesOf(all).subarray(1) }),
    'get',
    'unavailable',
  ],
  [
    'ends early',
    'GET',
    (all) => ({ ...all, body: bytesOf(all).subarray(1) }),
    'all',
    'unavailable',
  ],
  [
    'ends early',
    'GET',
    (all) => ({ ...all, body: bytesOf(all).subarray(1) }),
    'part',
    'unavailable',
  ],
  ['goes on', 'GET', (all) => ({ ...all, body: Buffer.alloc(1e6) }), 'get', 'unavailable'],
  ['goes on', 'GET', (all) => ({ ...all, body: Buffer.alloc(1e6) }), 'part', 'unavailable'],
  [
    'has others',
    'GET',
    (all) => ({ ...all, body: Buffer.from(bytesOf(all)).reverse() }),
    'get',
    'bytes_damaged',
  ],
  [
    'has others',
    'GET',
    (all) => ({ ...all, body: Buffer.from(bytesOf(all)).reverse() }),
    'all',
    'bytes_damaged',
  ],
]

function callsOf(
  store: AppBytes,
  sha256: string,
): Readonly<Record<Method, () => Promise<unknown>>> {
  const drain = async (range?: ByteRange): Promise<void> => {
    for await (const chunk of (await store.open(APP, sha256, range)) ?? []) void chunk
  }
  return {
    get: () => store.get(APP, sha256),
    put: () => store.put(APP, Buffer.concat([LETTER, Buffer.from('P.S.')])),
    all: () => drain(),
    part: () => drain({ start: 10, end: 300_000 }),
  }
}

await t.test('a storage that is broken or lies makes one clear error', async (t) => {
  const storage = await startFakeS3()
  t.teardown(() => storage.close())
  const { open } = (await import(pathToFileURL(join(folder, 's3-open.mjs')).href)) as {
    open(options: object): Promise<AppBytes>
  }
  const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY_ID: id, S3_SECRET_ACCESS_KEY: secret } = storage.env
  const options = { endpoint, id, secret, bucket: 'lies', region: 'us-east-1', part: '262144' }
  const store = await open(options)
  const { sha256 } = await store.put(APP, LETTER)
  const calls = callsOf(store, sha256)
  for (const [said, step, lie, method, code] of LIES) {
    const end = storage.distort(step, lie)
    await t.rejects(calls[method], { code }, `${step} ${said}: ${method} is ${code}`)
    end()
  }
  t.same(await store.get(APP, sha256), LETTER, 'what is stored is whole')

  const foreign = `lies/${APP}/readme.txt`
  storage.objects.set(foreign, { bytes: LETTER, etag: '"1"', at: new Date() })
  const listed: string[] = []
  for await (const one of store.list(APP)) listed.push(one.sha256)
  t.ok(listed.includes(sha256))
  t.ok(
    listed.every((one) => /^[0-9a-f]{64}$/.test(one)),
    'what somebody else put there is not listed',
  )
  await store.close()
})

function isOf(app: string): (key: string) => boolean {
  return (key) => key.startsWith(`apps/${app}/`)
}
