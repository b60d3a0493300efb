/**
 * Imported ahead of a suite by test/run.ts. tap follows every promise by async hooks, so that it can say in which test an
 * error was that nobody caught: a tenth of what suites that speak HTTP take. Without them such an error may be put down
 * to another test, and ends the process, which fails; `node dist/test/….test.js` alone names the right one.
 */
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

asyncHooks.createHook = () => {
  const hook = { enable: () => hook, disable: () => hook }
  return hook
}
syncBuiltinESMExports()
