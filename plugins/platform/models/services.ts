import { big, id, json, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

export const SERVICE_KINDS = ['database', 'storage', 'email', 'ai', 'custom'] as const

export type ServiceKind = (typeof SERVICE_KINDS)[number]

/** What an app needs beside itself, without its secrets. */
export const SERVICES = defineModel('services', {
  app_id: id(),
  /** Of an app's services no two have the same. */
  name: id(),
  kind: text<ServiceKind>(),
  /** Readable by anybody who may read the app's settings. */
  config: json<Readonly<Record<string, string>>>(),
  created_at: big(),
  updated_at: big(),
})

export const SERVICE_SECRETS = defineModel('service_secrets', {
  id: id(),
  app_id: id(),
  service: id(),
  name: id(),
  /** Encrypted under its `secretIdOf`. */
  sealed: text(),
})
