import type { ServiceReads, ServiceRecord, ServiceWrites } from '../contract/services.ts'
import type { Reading, State } from './state.ts'
import { place } from './state.ts'

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1

export function serviceReads(state: Reading): ServiceReads {
  const ofApp = (appId: string) =>
    [...state().services.values()].filter(({ app_id }) => app_id === appId)
  return {
    get: async (appId, name) => state().services.get(place(appId, name)),
    async list({ app_id, limit, after }) {
      const beyond = ofApp(app_id)
        .filter(({ name }) => after === null || name > after)
        .sort(byName)
      const rows = beyond.slice(0, limit).map(({ secrets, ...service }) => {
        return { ...service, secrets: secrets.map(({ name }) => ({ name })) }
      })
      return { rows, more: beyond.length > limit }
    },
    count: async (appId) => ofApp(appId).length,
  }
}

export function serviceWrites(state: State): ServiceWrites {
  const { services } = state
  return {
    ...serviceReads(() => state),
    async put(service, secrets, now) {
      const at = place(service.app_id, service.name)
      const before = services.get(at)
      const others = (before?.secrets ?? []).filter(({ name }) => !secrets.has(name))
      const given = [...secrets].flatMap(([name, sealed]) =>
        sealed === null ? [] : [{ name, sealed }],
      )
      const record: ServiceRecord = {
        ...service,
        secrets: [...others, ...given].sort(byName),
        created_at: before?.created_at ?? now,
        updated_at: now,
      }
      services.set(at, Object.freeze(record))
    },
    remove: async (appId, name) => services.delete(place(appId, name)),
  }
}

/** Deletes every service of an app. */
export function purgeServices({ services }: State, appId: string): void {
  for (const [at, { app_id }] of services) if (app_id === appId) services.delete(at)
}
