import { createApp, editWorld } from '../../support/edits.ts'
import type { Checks } from '../run.ts'

const SIZE = 9 * 1_048_576

export const FILE_CHECKS: Checks = {
  async E16(t, saw) {
    const world = await editWorld(t)
    const { id } = await createApp(world)
    const write = async (content_base64: string) => {
      const operations = [{ op: 'write', path: 'film.bin', content_base64 }]
      const { status, body } = await world.request('POST', `/v1/apps/${id}/edits`, {
        body: { operations, base_revision: 1 },
      })
      const { code } = (body['error'] ?? {}) as { readonly code?: string }
      saw(code === undefined ? String(status) : `${status} ${code}`)
      return status
    }
    // Not a multiple of three: it has padding.
    const whole = Buffer.alloc(SIZE + 1, 255).toString('base64')
    t.match(whole, /==$/)
    for (const bad of [whole.slice(0, -1), whole.slice(0, -2), `${whole.slice(0, -3)}-==`])
      t.equal(await write(bad), 400)
    t.equal(await write(whole), 201)
    const { body } = await world.request('GET', `/v1/apps/${id}/tree`)
    const files = body['files'] as readonly { readonly path: string; readonly size: number }[]
    t.equal(files.find(({ path }) => path === 'film.bin')?.size, SIZE + 1)
  },
}
