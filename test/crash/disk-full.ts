/**
 * `node dist/test/crash/disk-full.js [--results FILE]`: fills the disk below a daemon on SQLite, frees some
 * of it, and holds what it acknowledged against what it kept and sent. Linux, where `unshare -Urm` is
 * allowed.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readCommit } from './commit.ts'
import type { FullDisk } from './full-disk.ts'
import { fillDisk } from './full-disk.ts'
import type { DiskLine } from './result-line.ts'

/** Of util-linux. */
const NAMESPACES = 'unshare'
const DISK_MIB = 8

const { values, positionals } = parseArgs({
  options: { results: { type: 'string' } },
  allowPositionals: true,
})
const [place] = positionals
if (place === undefined) mountAndRun()
else process.stdout.write(JSON.stringify(await fillDisk(place)))

/** Once more, in a namespace of its own where the folder is a small disk. */
function mountAndRun(): void {
  const folder = mkdtempSync(join(tmpdir(), 'keyhook-full-'))
  const script = `mount -t tmpfs -o size=${DISK_MIB}m none "$2" && exec "$0" "$1" "$2"`
  const flags = ['-Urm', 'sh', '-c', script, process.execPath, fileURLToPath(import.meta.url)]
  const { status, stdout } = spawnSync(NAMESPACES, [...flags, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true, force: true })
  process.exitCode = 1
  if (status === 0) report(JSON.parse(stdout) as FullDisk)
}

function report(result: FullDisk): void {
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  const { faults, ...rest } = result
  const line: DiskLine = {
    harness: 'disk-full',
    commit: readCommit(),
    node: process.version,
    disk_mib: DISK_MIB,
    ...rest,
    faults: faults.length,
  }
  if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(line)}\n`)
  const { lost, not_delivered, delivered_twice, readable_when_full, refusals } = result
  const statuses = Object.keys(refusals).map(Number)
  const isSound = lost + not_delivered + delivered_twice + faults.length === 0
  const isHonest = readable_when_full && statuses.every((status) => status >= 503)
  const isTold = statuses.length > 0 && result.accepts_again_after_ms !== null
  if (isSound && isHonest && isTold) process.exitCode = 0
}
