/**
 * The embedder's published suite: what every implementation of the contract must show.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { embedderCases } from 'keyhook/plugins/embeddings/conformance'
 *
 * const makeHarness = async () => ({ embedder: createMyEmbedder() })
 * runCases(embedderCases, makeHarness, (name, run) => void test(name, run), ['close'])
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { EmbedderCase } from './conformance/harness.ts'
import { assertFails, cosine, embed } from './conformance/harness.ts'
import { MAX_DIMENSIONS, MAX_TEXT_CHARACTERS, MAX_TEXTS } from './contract.ts'

export type { EmbedderCase, EmbedderHarness } from './conformance/harness.ts'

const NEVER = new AbortController().signal

/** All cases, each on an embedder of its own. */
export const embedderCases: readonly EmbedderCase[] = [
  {
    name: 'embed: a vector for each text, in their order, all of one length',
    async run(harness) {
      assert.ok(harness.embedder.model.length > 0)
      const texts = Array.from({ length: MAX_TEXTS }, (_, at) => `text number ${at} of many`)
      const vectors = await embed(harness, ...texts)
      assert.equal(vectors.length, MAX_TEXTS)
      const lengths = new Set(vectors.map(({ length }) => length))
      assert.equal(lengths.size, 1)
      assert.ok(vectors.every((vector) => vector.every(Number.isFinite)))
      assert.ok((vectors[0]?.length ?? 0) >= 1 && (vectors[0]?.length ?? 0) <= MAX_DIMENSIONS)
      for (const at of [0, 7, MAX_TEXTS - 1]) {
        const [alone] = await embed(harness, texts[at] ?? '')
        assert.equal(alone?.length, vectors[0]?.length)
        assert.ok(cosine(alone, vectors[at]) > 0.999, texts[at])
      }
    },
  },
  {
    name: 'embed: texts lie nearer to what they share words with',
    async run(harness) {
      const [asked, alike, other] = await embed(
        harness,
        'the opening hours of the shop',
        'opening hours of our shop: nine to five',
        'parrots are green birds',
      )
      assert.ok(cosine(asked, alike) > cosine(asked, other))
    },
  },
  {
    name: 'embed: calls that overlap do not mix',
    async run(harness) {
      const texts = ['red apples', 'green pears', 'blue plums', 'the longest of all these texts']
      const apart = await Promise.all(texts.map(async (text) => (await embed(harness, text))[0]))
      const together = await embed(harness, ...texts)
      for (const [at, vector] of apart.entries()) assert.ok(cosine(vector, together[at]) > 0.999)
    },
  },
  {
    name: 'embed: the longest text has a vector, and more than may be asked is refused',
    async run(harness) {
      const long = 'word '.repeat(MAX_TEXT_CHARACTERS / 5)
      assert.equal((await embed(harness, long)).length, 1)
      await assert.rejects(embed(harness, `${long}x`), TypeError)
      await assert.rejects(embed(harness, ''), TypeError)
      await assert.rejects(embed(harness), TypeError)
      const many = Array.from({ length: MAX_TEXTS + 1 }, () => 'text')
      await assert.rejects(embed(harness, ...many), TypeError)
    },
  },
  {
    name: 'abort: before a call nothing is asked, and the reason is thrown',
    async run({ embedder }) {
      const reason = new Error('nobody waits')
      const work = embedder.embed(['text'], AbortSignal.abort(reason))
      await assert.rejects(work, (error) => error === reason)
    },
  },
  {
    name: 'abort: it ends a call that hangs, with the reason',
    requires: 'hangs',
    async run({ embedder, hang }) {
      assert.ok(hang)
      const abort = new AbortController()
      const reason = new Error('nobody waits')
      const begun = hang()
      const work = embedder.embed(['text'], abort.signal)
      void begun.then(() => abort.abort(reason))
      await assert.rejects(work, (error) => error === reason)
    },
  },
  {
    name: 'close: refuses what comes after',
    requires: 'close',
    async run(harness) {
      await harness.embedder.close?.()
      await assertFails(embed(harness, 'late'), 'embeddings_unavailable')
    },
  },
  {
    name: 'close: ends what is under way',
    requires: 'hangs',
    async run({ embedder, hang }) {
      assert.ok(hang)
      const begun = hang()
      const failed = assertFails(embedder.embed(['text'], NEVER), 'embeddings_unavailable')
      await begun
      await embedder.close?.()
      await failed
    },
  },
]
