/**
 * Given to Node with `--import`: what the process loads, module by module, is written into the file that
 * `KEYHOOK_TEST_LOADS` names.
 */
import { appendFileSync } from 'node:fs'
import type { LoadHook } from 'node:module'
import nodeModule from 'node:module'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const file = process.env['KEYHOOK_TEST_LOADS'] ?? ''

function record(url: string): void {
  appendFileSync(file, `${url}\n`)
}

export const load: LoadHook = (url, context, next) => {
  record(url)
  return next(url, context)
}

/** Hooks in the thread of the program, which Node 20 does not have. */
const { registerHooks } = nodeModule as unknown as {
  readonly registerHooks?: (hooks: object) => void
}

// Node 20 runs hooks in a thread of their own, which loads this module again.
if (isMainThread) {
  if (registerHooks === undefined) nodeModule.register(import.meta.url)
  else registerHooks({ load })
  process.on('exit', () => {
    for (const path of Object.keys(nodeModule.createRequire(import.meta.url).cache)) {
      record(pathToFileURL(path).href)
    }
  })
}
