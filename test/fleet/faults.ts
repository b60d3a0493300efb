import type { SeededRandom } from '../support/seeded-random.ts'
import type { Member } from './fleet.ts'
import { rest } from './steady.ts'

/** What befalls one daemon, for at most so long; once it resolves the cause is gone. */
type Fault = (member: Member, length: number, random: SeededRandom) => Promise<void>

const LONGEST_DELAY = 1500
const LONGEST_PAUSE = 4000

export const FAULTS = {
  async delay({ proxy }, length, random) {
    proxy.delay(20 + random.below(LONGEST_DELAY))
    await rest(length)
    proxy.resume()
  },
  async hold({ proxy }, length) {
    proxy.hold('out', 'back')
    await rest(length)
    proxy.resume()
  },
  async 'hold answers'({ proxy }, length) {
    proxy.hold('back')
    await rest(length)
    proxy.resume()
  },
  async 'hold questions'({ proxy }, length) {
    proxy.hold('out')
    await rest(length)
    proxy.resume()
  },
  async drop({ proxy }, length) {
    proxy.drop()
    await rest(length)
    proxy.resume()
  },
  async reset({ proxy }) {
    proxy.reset()
  },
  async 'half-close'({ proxy }) {
    proxy.halfClose()
  },
  async pause(member, length) {
    member.pause()
    await rest(Math.min(length, LONGEST_PAUSE))
    member.goOn()
  },
  async kill(member, length, random) {
    await member.kill()
    await rest(random.below(length))
    await member.start()
  },
} as const satisfies Readonly<Record<string, Fault>>

export type FaultName = keyof typeof FAULTS
