import { createHash } from 'node:crypto'
import { crc32 as zlibCrc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { encodeBase62, isBase62 } from '../../lib/internal/base62.ts'
import {
  concat,
  equalBytes,
  fromBase64,
  fromHex,
  fromUtf8,
  toBase64,
  toHex,
  utf8,
} from '../../lib/internal/bytes.ts'
import { crc32 } from '../../lib/internal/crc32.ts'
import { digestToken, hashToken, isToken, mintToken } from '../../lib/key/token.ts'
import { DEFAULT_KEY_PREFIX } from '../support/key-prefix.ts'
import type { KeySecret, KeyTimes } from '../../lib/key/lifecycle.ts'
import {
  DEFAULT_GRACE,
  MAX_GRACE,
  keyStatus,
  previousNotAfter,
  secretStatus,
} from '../../lib/key/lifecycle.ts'

const anyBytes = fc.uint8Array({ maxLength: 80 })
const anyEntropy = fc.uint8Array({ minLength: 32, maxLength: 32 })
const anyPrefix = fc.constantFrom('service_dk_', 'a_b_c_d_', 'k', '', '__', 'acme_live_0_')

const counting = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => at)
const mintWith = (prefix: string, entropy: Uint8Array): string =>
  mintToken(prefix, () => entropy).value

await t.test('a minted key', async (t) => {
  await t.test(
    'has a frozen form: values in use must be read by every later release',
    async (t) => {
      t.strictSame(mintToken(DEFAULT_KEY_PREFIX, counting), {
        value: 'service_dk_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf080oTc',
        display: 'service_dk_003aUlTJ',
      })
    },
  )
  await t.test('is prefix, 43 digits and 6 digits of checksum, and parses', async () => {
    fc.assert(
      fc.property(anyPrefix, anyEntropy, (prefix, entropy) => {
        const { value, display } = mintToken(prefix, () => entropy)
        const tail = value.slice(prefix.length)
        return (
          value.startsWith(prefix) &&
          /^[0-9A-Za-z]{49}$/.test(tail) &&
          display === prefix + tail.slice(0, 8) &&
          isToken(prefix, value)
        )
      }),
    )
  })
  await t.test('keeps all 256 bits, the extremes included', async (t) => {
    const zeros = mintWith('', new Uint8Array(32))
    const ones = mintWith('', new Uint8Array(32).fill(255))
    t.equal(zeros.slice(0, 43), '0'.repeat(43))
    t.equal(ones.slice(0, 43), base62Model(new Uint8Array(32).fill(255), 43))
    t.ok(isToken('', zeros) && isToken('', ones))
  })
  await t.test('is refused by its maker when the randomness is short', async (t) => {
    t.throws(
      () => mintToken('k_', () => new Uint8Array(31)),
      new TypeError('mintToken: random must return 32 bytes, a Uint8Array'),
    )
    t.throws(() => mintToken('k_', () => new Uint8Array(0)), TypeError)
  })
  await t.test('has a prefix that a header carries as it is', async (t) => {
    for (const prefix of ['clé_', 'a b_', 'k-', 'k\n', 'k:']) {
      const refusal = `${JSON.stringify(prefix)} cannot begin a key`
      t.throws(() => mintToken(prefix, counting), new TypeError(refusal))
    }
  })
})

await t.test('what is not a key', async (t) => {
  const { value } = mintToken(DEFAULT_KEY_PREFIX, counting)
  const isKey = (text: string): boolean => isToken(DEFAULT_KEY_PREFIX, text)

  await t.test('every change of a single character is refused', async (t) => {
    const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
    const accepted: string[] = []
    for (let at = 0; at < value.length; at++) {
      const aliases = [0x80, 0x100, 0xff00].map((offset) =>
        String.fromCharCode(value.charCodeAt(at) + offset),
      )
      for (const other of [...ascii, ...aliases]) {
        const changed = value.slice(0, at) + other + value.slice(at + 1)
        if (changed !== value && isKey(changed)) accepted.push(changed)
      }
    }
    t.strictSame(accepted, [])
  })
  await t.test('every swap of two neighbours that differ is refused', async (t) => {
    const accepted: string[] = []
    for (let at = 0; at + 1 < value.length; at++) {
      const swapped =
        value.slice(0, at) + value.charAt(at + 1) + value.charAt(at) + value.slice(at + 2)
      if (swapped !== value && isKey(swapped)) accepted.push(swapped)
    }
    t.strictSame(accepted, [])
  })
  await t.test('every truncation at either end is refused', async (t) => {
    for (let at = 1; at <= value.length; at++) {
      if (isKey(value.slice(at)) || isKey(value.slice(0, -at))) t.fail(`cut at ${at}`)
    }
    t.equal(isKey(value), true)
  })
  await t.test('extensions are refused', async (t) => {
    for (const extra of ['0', 'a', ' ', '\n', '\0', '_', value]) {
      t.equal(isKey(value + extra), false)
      t.equal(isKey(extra + value), false)
    }
  })
  await t.test('another prefix is refused, with its own valid checksum too', async (t) => {
    for (const prefix of ['service_dk', 'Service_dk_', 'service_ek_', 'dk_', '', 'service_dk_x']) {
      t.equal(isToken(prefix, value), false, prefix)
      t.equal(isKey(mintToken(prefix, counting).value), false, prefix)
    }
  })
  await t.test('no string makes it throw', async () => {
    fc.assert(
      fc.property(anyPrefix, fc.string({ unit: 'binary' }), (prefix, text) => {
        return !isToken(prefix, text) && !isToken(prefix, prefix + text)
      }),
    )
    fc.assert(fc.property(fc.string({ minLength: 60, maxLength: 60 }), (text) => !isKey(text)))
  })
})

await t.test('the stored hash is SHA-256 of the whole value, in lower-case hex', async (t) => {
  t.equal(
    hashToken('abc'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', // FIPS 180-4, appendix B.1
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      return hashToken(text) === createHash('sha256').update(text, 'utf8').digest('hex')
    }),
  )
})

await t.test('the key of a cache has every byte of the hash', async () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      return Buffer.from(digestToken(text), 'latin1').toString('hex') === hashToken(text)
    }),
  )
})

const NOW = 1_000_000
const FOR_EVER: KeyTimes = { expires_at: null, revoked_at: null }
const secretOf = (version: number, notAfter: number | null): KeySecret => ({
  hash: toHex(Uint8Array.of(version)),
  display: `service_dk_${version}`,
  version,
  created_at: 0,
  not_after: notAfter,
})

await t.test('the status of a key', async (t) => {
  const lone = [secretOf(1, null)]
  const rotated = [secretOf(2, null), secretOf(1, NOW + 1)]
  const rows = [
    ['active', FOR_EVER, lone],
    ['active', FOR_EVER, []],
    ['active', { ...FOR_EVER, expires_at: NOW + 1 }, lone],
    ['expired', { ...FOR_EVER, expires_at: NOW }, lone],
    ['expired', { ...FOR_EVER, expires_at: NOW - 1 }, rotated],
    ['revoked', { ...FOR_EVER, revoked_at: NOW }, rotated],
    ['revoked', { expires_at: NOW - 1, revoked_at: NOW }, lone],
    // Another process's clock may run ahead: a revocation counts from its writing.
    ['revoked', { ...FOR_EVER, revoked_at: NOW + 1 }, lone],
    ['rotating', FOR_EVER, rotated],
    ['rotating', FOR_EVER, rotated.toReversed()],
    ['active', FOR_EVER, [secretOf(2, null), secretOf(1, NOW)]],
    ['rotating', FOR_EVER, [secretOf(3, null), secretOf(2, NOW), secretOf(1, NOW + 1)]],
  ] as const
  for (const [status, key, secrets] of rows) t.equal(keyStatus(key, secrets, NOW), status)
})

await t.test('the status of one value', async (t) => {
  const rows = [
    ['current', FOR_EVER, secretOf(2, null)],
    ['previous', FOR_EVER, secretOf(1, NOW + 1)],
    ['ended', FOR_EVER, secretOf(1, NOW)],
    ['ended', FOR_EVER, secretOf(1, NOW - 1)],
    ['ended', FOR_EVER, secretOf(1, null)],
    ['previous', FOR_EVER, secretOf(0, NOW + 1)],
    ['ended', FOR_EVER, secretOf(0, NOW)],
    ['ended', FOR_EVER, secretOf(3, null)],
    ['ended', FOR_EVER, secretOf(3, NOW + 1)],
    ['ended', FOR_EVER, secretOf(2, NOW)],
    ['ended', { ...FOR_EVER, expires_at: NOW }, secretOf(2, null)],
    ['ended', { ...FOR_EVER, expires_at: NOW }, secretOf(1, NOW + 1)],
    ['current', { ...FOR_EVER, expires_at: NOW + 1 }, secretOf(2, null)],
    ['ended', { ...FOR_EVER, revoked_at: NOW }, secretOf(2, null)],
    ['ended', { ...FOR_EVER, revoked_at: NOW }, secretOf(1, NOW + 1)],
  ] as const
  for (const [status, key, secret] of rows) {
    t.equal(secretStatus(key, secret, 2, NOW), status)
  }
})

await t.test(
  'of any values at any time one is current, and each previous one has its own end',
  async () => {
    const anyEnd = fc.option(fc.integer({ min: NOW - 2, max: NOW + 2 }))
    fc.assert(
      fc.property(fc.array(anyEnd, { minLength: 1, maxLength: 6 }), (ends) => {
        const secrets = ends.map((end, at) => secretOf(at + 1, end))
        const statuses = secrets.map((one) => secretStatus(FOR_EVER, one, ends.length, NOW))
        const count = (status: string): number => statuses.filter((s) => s === status).length
        const replaced = ends.slice(0, -1).filter((end) => end !== null && end > NOW)
        return count('current') <= 1 && count('previous') === replaced.length
      }),
    )
  },
)

await t.test('a replaced value', async (t) => {
  await t.test('works 24 hours, or the grace, and never past the key', async (t) => {
    const expiring = { ...FOR_EVER, expires_at: NOW + 3_600_000 }
    t.equal(DEFAULT_GRACE, 86_400_000)
    t.equal(previousNotAfter(FOR_EVER, DEFAULT_GRACE, NOW), NOW + 86_400_000)
    t.equal(previousNotAfter(expiring, DEFAULT_GRACE, NOW), NOW + 3_600_000)
    t.equal(previousNotAfter(expiring, 1000, NOW), NOW + 1000)
  })
  await t.test('ends at once with grace 0', async (t) => {
    const notAfter = previousNotAfter(FOR_EVER, 0, NOW)
    t.equal(secretStatus(FOR_EVER, secretOf(1, notAfter), 2, 1), 'ended', 'whatever the clock says')
    t.equal(secretStatus(FOR_EVER, secretOf(1, notAfter), 2, NOW), 'ended')
  })
  await t.test('has no grace outside 0 to 24 hours', async (t) => {
    for (const grace of [-1, MAX_GRACE + 1, 0.5, NaN, Infinity]) {
      const refusal = `A grace period is 0 to 86400000 milliseconds, not ${grace}`
      t.throws(() => previousNotAfter(FOR_EVER, grace, NOW), new TypeError(refusal))
    }
  })
})

function base62Model(bytes: Uint8Array, width: number): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let rest = BigInt(`0x0${toHex(bytes)}`)
  let text = ''
  for (let at = 0; at < width; at++) {
    text = alphabet.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}

await t.test('base62 and CRC-32', async (t) => {
  await t.test('base62 is the big-endian number, padded', async (t) => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const width = Math.ceil(bytes.length * 1.35)
        const text = encodeBase62(bytes, width)
        return text === base62Model(bytes, width) && (width === 0 || isBase62(text))
      }),
    )
    t.throws(() => encodeBase62(Uint8Array.of(62), 1), TypeError)
    for (const text of ['', '_', 'a b', 'é', 'a\n']) t.equal(isBase62(text), false)
  })
  await t.test(
    'CRC-32 has the check value of its catalogue, and is what zlib computes',
    async (t) => {
      t.equal(crc32(utf8('123456789')), 0xcbf43926)
      fc.assert(fc.property(anyBytes, (bytes) => crc32(bytes) === zlibCrc32(bytes)))
    },
  )
})

await t.test('bytes', async (t) => {
  await t.test('hex and base64 are what Node prints, and are read back', async () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const [hex, base64] = [toHex(bytes), toBase64(bytes)]
        const buffer = Buffer.from(bytes)
        return (
          hex === buffer.toString('hex') &&
          base64 === buffer.toString('base64') &&
          equalBytes(fromHex(hex) ?? utf8('none'), bytes) &&
          equalBytes(fromBase64(base64) ?? utf8('none'), bytes)
        )
      }),
    )
  })
  await t.test('no two texts are read as the same bytes', async (t) => {
    const faults = ['=', 'A', 'AA', 'AAA', 'AA=', 'A===', '====', 'AAAA=', 'AB==', 'AAB=']
    faults.push(' AAAA', 'AAAA\n', 'AA-_', 'éAAA')
    for (const text of faults) t.equal(fromBase64(text), undefined)
    for (const text of ['0', 'AB', '0x', 'gg', '00 ', ' 00', '00\n', 'é0']) {
      t.equal(fromHex(text), undefined)
    }
    fc.assert(
      fc.property(fc.base64String(), (text) => {
        const bytes = fromBase64(text)
        return bytes === undefined || toBase64(bytes) === text
      }),
    )
  })
  await t.test('text is decoded exactly or not at all', async (t) => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => fromUtf8(utf8(text)) === text))
    t.equal(fromUtf8(utf8('\ufeffx')), '\ufeffx')
    for (const bytes of [[0xff], [0xc0, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80]]) {
      t.throws(() => fromUtf8(Uint8Array.from(bytes)), TypeError)
    }
  })
  await t.test('are joined in order, and compared by content', async (t) => {
    t.strictSame(concat([Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)]), counting3())
    t.strictSame(concat([]), new Uint8Array(0))
    t.equal(equalBytes(counting3(), Uint8Array.of(1, 2, 3)), true)
    t.equal(equalBytes(new Uint8Array(0), new Uint8Array(0)), true)
    for (const other of [[1, 2, 4], [0, 2, 3], [1, 2], [1, 2, 3, 0], []]) {
      t.equal(equalBytes(counting3(), Uint8Array.from(other)), false)
    }
  })
})

function counting3(): Uint8Array {
  return Uint8Array.of(1, 2, 3)
}
