import { printedBytes } from '../../../daemon/operations/print-json.ts'
import type { AppBytes } from '../../../plugins/apps/contract.ts'
import { createApp, editWorld } from '../../support/edits.ts'
import { signal } from '../../support/signal.ts'
import type { World } from '../../support/world.ts'
import { MIB, openWorld, outcomeOf } from '../responses/world.ts'
import type { Checks } from '../run.ts'

const SIZE = 9 * MIB
const ASKED = 40
const ROOM = MIB / 4
const PIECE = MIB / 16

async function* piecesOf(
  bytes: Uint8Array,
  came: (size: number) => void,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) {
    const piece = bytes.subarray(at, at + PIECE)
    came(piece.length)
    yield piece
  }
}

/** Makes the second revision of a new app. */
async function edited(world: World, ...operations: readonly object[]): Promise<string> {
  const { id } = await createApp(world)
  const made = await world.request('POST', `/v1/apps/${id}/edits`, {
    body: { operations, base_revision: 1 },
  })
  if (made.status !== 201) throw new Error(outcomeOf(made))
  return id
}

/** Where the app's bytes are kept, to be watched. */
function bytesOf({ platform }: World): AppBytes {
  if (platform.plugins.appBytes === undefined) throw new Error('nothing keeps bytes')
  return platform.plugins.appBytes
}

export const FILE_CHECKS: Checks = {
  async E16(t, saw) {
    const world = await editWorld(t)
    const { id } = await createApp(world)
    const write = async (content_base64: string) => {
      const operations = [{ op: 'write', path: 'film.bin', content_base64 }]
      const answer = await world.request('POST', `/v1/apps/${id}/edits`, {
        body: { operations, base_revision: 1 },
      })
      saw(answer.status === 201 ? '201' : outcomeOf(answer))
      return answer.status
    }
    // Not a multiple of three: it has padding.
    const whole = Buffer.alloc(SIZE + 1, 255).toString('base64')
    t.match(whole, /==$/)
    for (const bad of [whole.slice(0, -1), whole.slice(0, -2), `${whole.slice(0, -3)}-==`]) {
      t.equal(await write(bad), 400)
    }
    t.equal(await write(whole), 201)
    const { body } = await world.request('GET', `/v1/apps/${id}/tree`)
    const files = body['files'] as readonly { readonly path: string; readonly size: number }[]
    t.equal(files.find(({ path }) => path === 'film.bin')?.size, SIZE + 1)
  },
  async E17(t, saw) {
    const world = await openWorld(t, { traffic: { responseBytes: 16 * MIB } })
    const content = 'a'.repeat(5 * MIB)
    const app = await edited(world, { op: 'write', path: 'film.txt', content })
    const { body } = await world.request('GET', `/v1/apps/${app}/tree`)
    const files = body['files'] as readonly { readonly path: string; readonly sha256: string }[]
    const film = files.find(({ path }) => path === 'film.txt')
    const bytes = bytesOf(world)
    const { get } = bytes
    let reading = 0
    let refused = 0
    const { promise: begun, resolve: begin } = signal()
    /** Who reads the file waits until all others wait for it too, or were refused. */
    const beginOnceAllCame = (): void => {
      if (reading + refused === ASKED) begin()
    }
    t.capture(bytes, 'get', async (appId: string, sha256: string) => {
      if (sha256 === film?.sha256) {
        reading += 1
        beginOnceAllCame()
        await begun
      }
      return get(appId, sha256)
    })
    const answers = Array.from({ length: ASKED }, async () => {
      const answer = await world.request('GET', `/v1/apps/${app}/content?path=film.txt`)
      saw(outcomeOf(answer))
      if (answer.status !== 200) refused += 1
      beginOnceAllCame()
    })
    await Promise.all(answers)
    t.same({ reading, refused }, { reading: 2, refused: ASKED - 2 })
    for (const text of ['', 'plain', '"\\\b\t\n\f\r', '\0\u0001\u001f\u007f', 'é€😀\u2028']) {
      t.equal(printedBytes(Buffer.from(text)) + 2, Buffer.byteLength(JSON.stringify(text)))
    }
  },
  async E18(t, saw) {
    const world = await openWorld(t, { traffic: { responseBytes: 4 * MIB } })
    const { traffic, account, request } = world
    const value = 'a'.repeat(4000)
    const keys = Array.from({ length: 180 }, (_, index) => `key-${index}`)
    const app = await edited(world, ...keys.map((key) => ({ op: 'set_config', key, value })))
    const bytes = bytesOf(world)
    const { get } = bytes
    let read = 0
    t.capture(bytes, 'open', async (appId: string, sha256: string) => {
      const kept = await get(appId, sha256)
      return kept && piecesOf(kept, (size) => (read += size))
    })
    const others = traffic.responses.take(account.id, 4 * MIB - ROOM, () => undefined)
    saw(outcomeOf(await request('GET', `/v1/apps/${app}/tree`)))
    t.ok(read > 0 && read <= ROOM + PIECE, `${read} bytes`)
    others?.release()
    const tree = await request<{ config: object }>('GET', `/v1/apps/${app}/tree`)
    saw(outcomeOf(tree))
    t.equal(Object.keys(tree.body.config).length, keys.length)
  },
}
