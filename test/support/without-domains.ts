/**
 * Imported ahead of a suite by test/run.ts. tap follows every promise and handle by async hooks, so that it can say in
 * which test an error was that nobody caught: a tenth of what suites that speak HTTP take. Such an error ends the
 * process as well, and one that ended so has failed.
 */
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

asyncHooks.createHook = () => {
  const hook = { enable: () => hook, disable: () => hook }
  return hook
}
syncBuiltinESMExports()
