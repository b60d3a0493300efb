import assert from 'node:assert/strict'
import type { FilesCase, Stage } from './harness.ts'
import { assertFails, hangingTask, processAll, taskOf, textOf } from './harness.ts'

const LONG = 'A sentence among many others. '.repeat(20_000)

export const workCases: readonly FilesCase[] = [
  {
    name: 'process: the same file gives the same chunks again, however its bytes arrive',
    async run(harness) {
      const text = 'Größe, 大きさ, μέγεθος. '.repeat(300)
      const whole = await processAll(harness, taskOf('sizes.txt', text))
      const pieces = await processAll(harness, taskOf('sizes.txt', text, 7))
      assert.deepEqual(pieces.all, whole.all)
      assert.equal(textOf(whole), text.trimEnd().padEnd(text.length))
    },
  },
  {
    name: 'process: files that overlap in time do not mix',
    async run(harness) {
      const texts = ['red', 'green', 'blue'].map((colour) => `${colour} `.repeat(3000))
      const outcomes = await Promise.all(
        texts.map((text, index) => processAll(harness, taskOf(`${index}.txt`, text, 1000))),
      )
      assert.deepEqual(outcomes.map(textOf), texts)
    },
  },
  {
    name: 'stages: each is told, in order, and what is done never falls',
    async run(harness) {
      const { stages } = await processAll(harness, taskOf('long.txt', LONG))
      const names = stages.map(([stage]) => stage)
      assert.deepEqual([...new Set(names)], ['extract', 'chunk'])
      assert.ok(names.lastIndexOf('extract') < names.indexOf('chunk'))
      stages.reduce((before: Stage, now: Stage) => {
        assert.ok(before[0] !== now[0] || before[1] <= now[1])
        return now
      })
      assert.ok(stages.every(([, done, total]) => done >= 0 && (total === null || done <= total)))
    },
  },
  {
    name: 'take: the processor waits until a batch is taken',
    async run(harness) {
      let taking = 0
      let batches = 0
      await processAll(harness, taskOf('long.txt', LONG), {
        async take() {
          assert.equal(++taking, 1)
          await new Promise((resolve) => setImmediate(resolve))
          taking--
          batches++
        },
      })
      assert.ok(batches > 1)
      assert.equal(taking, 0)
    },
  },
  {
    name: 'take: what it throws ends the work and is thrown as it is',
    async run(harness) {
      const cause = new Error('the disk is full')
      let taken = 0
      const failing = processAll(harness, taskOf('long.txt', LONG), {
        take() {
          taken++
          throw cause
        },
      })
      await assert.rejects(failing, (error) => error === cause)
      assert.equal(taken, 1)
    },
  },
  {
    name: 'abort: before the work nothing is handed out, and the reason is thrown',
    async run(harness) {
      const reason = new Error('the file was deleted')
      const work = processAll(harness, taskOf('notes.txt', 'some text'), {
        signal: AbortSignal.abort(reason),
        take: () => assert.fail('nothing is to be taken'),
      })
      await assert.rejects(work, (error) => error === reason)
    },
  },
  {
    name: 'abort: while the bytes hang it ends at once',
    async run(harness) {
      const abort = new AbortController()
      const { task, reached } = hangingTask('notes.txt')
      const reason = new Error('the file was deleted')
      const work = processAll(harness, task, { signal: abort.signal })
      void reached.then(() => {
        abort.abort(reason)
      })
      await assert.rejects(work, (error) => error === reason)
    },
  },
  {
    name: 'abort: while a batch is taken no other follows',
    async run(harness) {
      const abort = new AbortController()
      const reason = new Error('the file was deleted')
      let taken = 0
      const work = processAll(harness, taskOf('long.txt', LONG), {
        signal: abort.signal,
        take() {
          taken++
          abort.abort(reason)
        },
      })
      await assert.rejects(work, (error) => error === reason)
      assert.equal(taken, 1)
    },
  },
  {
    name: 'bytes: an error that they throw is thrown as it is, and the next file is not touched by it',
    async run(harness) {
      const cause = new Error('the disk is gone')
      const task = {
        ...taskOf('notes.txt', LONG),
        async *open() {
          yield Buffer.from(LONG.slice(0, 100_000))
          throw cause
        },
      }
      const work = processAll(harness, task, { take: () => assert.fail('nothing is to be taken') })
      await assert.rejects(work, (error) => error === cause)
      assert.equal(textOf(await processAll(harness, taskOf('b.txt', 'whole'))), 'whole')
    },
  },
  {
    name: 'close: ends what is under way, and refuses what comes after',
    async run(harness) {
      const { task, reached } = hangingTask('notes.txt')
      const work = processAll(harness, task)
      const failed = assertFails(work, 'processor_failed')
      await reached
      await harness.processor.close()
      await failed
      await assertFails(processAll(harness, taskOf('notes.txt', 'late')), 'processor_failed')
    },
  },
]
