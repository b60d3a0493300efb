import { text } from 'node:stream/consumers'
import { verifyWebhook } from 'keyhook/verify'

const decode = (field) => Buffer.from(field, 'base64')
const verdicts = []
for (const line of (await text(process.stdin)).trim().split('\n')) {
  const [id, secretFields, bodyField, headerField, now] = line.split('\t')
  const headers = headerField === '-' ? {} : { 'service-signature': decode(headerField).toString() }
  const secrets = secretFields.split(',').map((field) => decode(field).toString())
  const verdict = await verifyWebhook(decode(bodyField), headers, secrets, {
    now: now * 1000,
  }).then(
    () => true,
    // Signed well, and yet no event: the signature is what is judged here.
    ({ code }) => code === 'body_malformed',
  )
  verdicts.push(`${id}\t${verdict}\n`)
}
process.stdout.write(verdicts.join(''))
