/** Preloaded into a process, `node --import`: its SQLite is that of Node, although the package sqlite3 is there. */
import { isMainThread } from 'node:worker_threads'
import { useDriver } from '../../plugins/sqlite/open.ts'

if (isMainThread) useDriver('node:sqlite')
