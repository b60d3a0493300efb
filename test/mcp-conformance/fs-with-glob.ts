export * from 'node:fs'

export function globSync(): never {
  throw new Error('this Node has no globSync')
}
