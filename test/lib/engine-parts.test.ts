import fc from 'fast-check'
import t from 'tap'
import { createAccountCache } from '../../lib/engine/account-cache.ts'
import { createKeyring, parseMasterKeys } from '../../lib/engine/keyring.ts'
import { toBase64 } from '../../lib/internal/bytes.ts'
import { countingRandom } from '../support/engine.ts'

const KEY = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)
const anyText = fc.string({ unit: 'grapheme' })

await t.test('the keyring', async (t) => {
  const random = countingRandom()
  const ring = createKeyring([{ id: 'k1', key: KEY(1) }], random)
  const unreadable = { code: 'secret_unreadable' }

  await t.test('decrypts what it encrypted', async () => {
    fc.assert(
      fc.property(
        anyText,
        anyText,
        (text, at) => ring.decrypt(ring.encrypt(text, at), at) === text,
      ),
    )
  })
  await t.test('opens a secret in its place alone', async (t) => {
    const encrypted = ring.encrypt('whsec_x', 'webhook_secret|1')
    for (const place of ['', 'webhook_secret|2', 'webhook_secret|1 ']) {
      t.throws(() => ring.decrypt(encrypted, place), unreadable, place)
    }
  })
  await t.test('refuses what differs by one bit, is cut or goes on', async (t) => {
    const encrypted = ring.encrypt('whsec_x', 'here')
    for (let at = 0; at < encrypted.length; at += 1) {
      for (let bit = 0; bit < 7; bit += 1) {
        const flipped = String.fromCharCode(encrypted.charCodeAt(at) ^ (1 << bit))
        const forged = encrypted.slice(0, at) + flipped + encrypted.slice(at + 1)
        t.throws(() => ring.decrypt(forged, 'here'), unreadable, `${at}:${bit}`)
      }
      t.throws(() => ring.decrypt(encrypted.slice(0, at), 'here'), unreadable, `cut at ${at}`)
    }
    t.throws(() => ring.decrypt(`${encrypted}.x`, 'here'), unreadable)
  })
  await t.test('decrypts with an older master key, and encrypts with the first', async (t) => {
    const old = ring.encrypt('whsec_x', 'here')
    const rotated = createKeyring(
      [
        { id: 'k2', key: KEY(2) },
        { id: 'k1', key: KEY(1) },
      ],
      random,
    )
    t.equal(rotated.decrypt(old, 'here'), 'whsec_x')
    t.throws(() => ring.decrypt(rotated.encrypt('whsec_y', 'here'), 'here'), unreadable)
    const alike = createKeyring([{ id: 'k1', key: KEY(3) }], random)
    t.throws(() => alike.decrypt(old, 'here'), unreadable)
    t.throws(() => createKeyring([], random), TypeError)
  })
  await t.test('never encrypts twice to the same text', async (t) => {
    t.not(ring.encrypt('a', 'here'), ring.encrypt('a', 'here'))
  })
  await t.test('reads its master keys, and refuses others without showing them', async (t) => {
    const good = `k1:${toBase64(KEY(1))}`
    t.same(parseMasterKeys(`${good}, k_2:${toBase64(KEY(2))}`), [
      { id: 'k1', key: KEY(1) },
      { id: 'k_2', key: KEY(2) },
    ])
    const value = 'S3cretS3cretS3cret'
    const wrong = [
      '',
      value,
      `k1:${value}`,
      `k1:${toBase64(KEY(1).subarray(1))}`,
      `k1:${toBase64(KEY(1))}x`,
      `:${toBase64(KEY(1))}`,
      `${'k'.repeat(33)}:${toBase64(KEY(1))}`,
      `k.1:${toBase64(KEY(1))}`,
      `k1:${'A'.repeat(42)}B=`,
      `${good},`,
      `${good},${good}`,
    ]
    for (const text of wrong) {
      const values = text.split(/[,:]/).filter((part) => part.length > 10)
      let said = 'nothing'
      try {
        parseMasterKeys(text)
      } catch (error) {
        if (error instanceof TypeError) said = error.message
      }
      t.match(said, /^master key/, text)
      t.notOk(values.some((part) => said.includes(part)))
    }
  })
})

await t.test('the account cache', async (t) => {
  function slowCache(max?: number) {
    const reads: ((value: string) => void)[] = []
    const load = (): Promise<string> => new Promise((resolve) => reads.push(resolve))
    return { reads, cache: createAccountCache(load, () => true, max) }
  }
  await t.test('reads once for all who wait', async (t) => {
    const { reads, cache } = slowCache()
    const both = [cache.get('a'), cache.get('a')]
    t.equal(cache.peek('a'), undefined)
    reads[0]?.('one')
    t.same(await Promise.all(both), ['one', 'one'])
    t.equal(await cache.get('a'), 'one')
    t.equal(reads.length, 1)
  })
  await t.test('neither keeps nor answers what was read before a drop', async (t) => {
    const { reads, cache } = slowCache()
    const both = [cache.get('a'), cache.get('a')]
    cache.drop('a')
    const late = cache.get('a')
    reads[0]?.('old')
    await Promise.resolve()
    t.equal(cache.peek('a'), undefined)
    for (let turns = 0; turns < 5; turns += 1) await Promise.resolve()
    t.equal(reads.length, 2)
    reads[1]?.('new')
    t.same(await Promise.all([...both, late]), ['new', 'new', 'new'])
    t.equal(cache.peek('a'), 'new')
  })
  await t.test(
    'forgets the account used least recently when it is full, and a read that failed',
    async (t) => {
      const { reads, cache } = slowCache(2)
      for (const [at, id] of ['a', 'b', 'c'].entries()) {
        const value = cache.get(id)
        reads[at]?.(id)
        await value
      }
      t.same(['a', 'b', 'c'].map(cache.peek), [undefined, 'b', 'c'])
      await cache.get('b')
      const last = cache.get('d')
      reads[3]?.('d')
      await last
      t.same(['b', 'c', 'd'].map(cache.peek), ['b', undefined, 'd'], 'what is used stays')
      let fails = true
      const shaky = createAccountCache(async () => {
        if (fails) throw new Error('no')
        return 'yes'
      })
      await t.rejects(shaky.get('a'), /no/)
      fails = false
      t.equal(await shaky.get('a'), 'yes')
    },
  )
})
