import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'
import { createWorld } from '../support/world.ts'

/** Posts a key while the store is busy; answers both ends of its connection, and what frees the store. */
async function postToBusy(t: Test) {
  let tell: ((socket: Socket) => void) | undefined
  const world = await createWorld(t, {
    resolve: () => (ctx) => {
      tell?.(ctx.req.socket)
      return undefined
    },
  })
  const { key } = await world.mintKey({ scopes: ['*:*'] })
  let free = (): void => undefined
  const busy = world.platform.store.write(
    () =>
      new Promise<void>((resolve) => {
        free = resolve
      }),
  )
  const arrived = new Promise<Socket>((resolve) => {
    tell = resolve
  })
  const { store } = world.platform
  const { write } = store
  const queued = new Promise<void>((resolve) => {
    Object.assign(store, {
      write: (...asked: Parameters<typeof write>) => {
        resolve()
        return write(...asked)
      },
    })
  })
  const { port, pathname } = new URL(`${world.baseUrl}/v1/keys`)
  const body = JSON.stringify({ name: 'late', scopes: ['events:read'] })
  const client = connect(Number(port), '127.0.0.1')
  client.write(
    `POST ${pathname} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const server = await arrived
  await queued
  const names = async () => {
    const { body } = await world.request<{ data: { name: string }[] }>('GET', '/v1/keys')
    return body.data.map(({ name }) => name)
  }
  const release = async (): Promise<void> => {
    free()
    await busy
    // Whatever waited has had its turn after this one.
    await store.write(() => Promise.resolve())
  }
  return { client, server, names, release }
}

void t.test('what waited for the store is done for who still waits', async (t) => {
  const { client, names, release } = await postToBusy(t)
  const answered = once(client, 'data')
  await release()
  t.match(String(await answered), /^HTTP\/1\.1 201/)
  t.same(await names(), ['late', 'a key'])
  client.destroy()
})

void t.test('and is not begun for who has left', async (t) => {
  const { client, server, names, release } = await postToBusy(t)
  const gone = once(server, 'close')
  client.destroy()
  await gone
  await release()
  t.same(await names(), ['a key'])
})
