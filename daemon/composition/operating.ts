import type { Clock, RandomBytes } from '../../lib/engine/ports.ts'
import { createOperatorSessions } from '../authority/operator-session.ts'
import type { Config } from '../config/config.ts'
import { databaseFile, usesPostgres } from '../config/config.ts'
import { operatorCheck } from '../http/resolve.ts'
import { readStatus } from '../http/status-page.ts'
import { measureDisk } from '../machine/disk.ts'
import type { Operating, Platform } from '../platform.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** What a daemon knows for its operator: the same as `keyhook status` and the settings, and the room that is left. */
export function createOperating(
  config: Config,
  metrics: Metrics,
  parts: Pick<Platform, 'store'> & { readonly clock: Clock; readonly random: RandomBytes },
): Operating {
  const { operatorToken } = config
  const isPostgres = usesPostgres(config)
  return {
    proves: operatorCheck(operatorToken),
    sessions:
      operatorToken === undefined ? undefined : createOperatorSessions(operatorToken, parts.random),
    async status() {
      const file = isPostgres ? undefined : databaseFile(config)
      const [status, { database_bytes, ...disk }] = await Promise.all([
        readStatus(parts, metrics),
        measureDisk(config.dataDir, file),
      ])
      return {
        ...status,
        node_version: process.versions.node,
        database: { kind: isPostgres ? 'postgres' : 'sqlite', bytes: database_bytes },
        disk,
      }
    },
    settings: () => config.inForce,
  }
}
