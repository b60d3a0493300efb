/** An address that opens a mail program with the message written in it. */
export function composeMail(address, { name, topic, message }) {
  const body = `${message}\n\n${name}`.replaceAll(/\r?\n/g, '\r\n')
  const subject = `${topic} from ${name}`
  return `${address}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`
}
