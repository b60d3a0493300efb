import type { FormInput, GivenFile, GivenForm, GivenPart } from '../../operations/parts.ts'
import { fingerprintParts } from '../fingerprint-parts.ts'
import { clearBody } from '../state.ts'
import type { Step } from '../state.ts'
import type { Traffic } from '../traffic.ts'
import { isMultipart, requireMultipart, withParts } from './read-parts.ts'

/** Reads a form as the JSON body that it represents; any other body is read by `otherwise`. */
export function readForm({ parts, toBody }: FormInput, traffic: Traffic, otherwise: Step): Step {
  return async function readForm(ctx, next) {
    if (!isMultipart(ctx)) return otherwise(ctx, next)
    requireMultipart(ctx)
    await withParts(ctx, parts, traffic, undefined, async (given, lease) => {
      const { form, fingerprint } = await readParts(given)
      lease.keep()
      ctx.state.body = toBody(form)
      ctx.state.bodyText = fingerprint
      ctx.state.bodyLease = lease
      try {
        await next()
      } finally {
        clearBody(ctx.state)
      }
    })
  }
}

interface ReadParts {
  readonly form: GivenForm
  /** The same for the same parts, regardless of the boundary. */
  readonly fingerprint: string
}

async function readParts(given: AsyncIterable<GivenPart>): Promise<ReadParts> {
  const texts: Record<string, string> = {}
  const files: Record<string, GivenFile[]> = {}
  const { parts, fingerprint } = fingerprintParts(given)
  for await (const part of parts) {
    if (part.kind === 'text') {
      texts[part.name] = part.text
    } else {
      const { name, filename } = part
      ;(files[name] ??= []).push({ filename, bytes: await readWhole(part.bytes) })
    }
  }
  return { form: { texts, files }, fingerprint: await fingerprint() }
}

async function readWhole(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks)
}
