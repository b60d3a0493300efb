import { certify, NAME } from '../../../support/egress.ts'
import { dribble } from '../pouring.ts'
import type { HostileRow } from '../row.ts'
import { answered, lost } from '../row.ts'
import { accepting, handshaking, type StartHostile } from '../server.ts'

const good = (folder: string): ReturnType<typeof certify> => certify(folder, NAME)

/** Called over TLS, though it may not speak it. */
function overTls(start: StartHostile): StartHostile {
  return async (folder) => Object.assign(await start(folder), { ca: '' })
}

const refused = (title: string, start: StartHostile): HostileRow => ({
  case: title,
  start,
  recorded: lost('tls'),
  ends: 'itself',
})

/** Receivers that are called over TLS. Of all that is refused, one thing alone is wrong. */
export const HANDSHAKE_ROWS: readonly HostileRow[] = [
  {
    case: 'proves who it is (for comparison)',
    start: handshaking(good),
    recorded: answered(204),
    ends: 'itself',
  },
  refused('has a certificate that nobody vouches for', handshaking(good, { trusted: false })),
  refused(
    'has a certificate that expired',
    handshaking((folder) => certify(folder, NAME, -1)),
  ),
  refused(
    'has a certificate for another name',
    handshaking((folder) => certify(folder, 'other.example.com')),
  ),
  refused(
    'knows TLS 1.0 alone',
    handshaking(good, {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    }),
  ),
  refused(
    'knows TLS 1.1 alone',
    handshaking(good, {
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    }),
  ),
  refused(
    'speaks HTTP in the clear',
    overTls(
      accepting((socket) => {
        socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
      }),
    ),
  ),
  refused(
    'sends an alert',
    overTls(
      accepting((socket) => {
        socket.once('data', () => socket.write(Buffer.from([21, 3, 3, 0, 2, 2, 40])))
      }),
    ),
  ),
  {
    case: 'closes within the handshake',
    start: overTls(
      accepting((socket) => {
        socket.once('data', () => socket.end(Buffer.from([22, 3, 3])))
      }),
    ),
    recorded: lost('reset'),
    ends: 'itself',
  },
  {
    case: 'never says hello',
    start: overTls(accepting((socket) => socket.resume())),
    recorded: lost('timeout'),
    ends: 'deadline',
  },
  {
    case: 'trickles its hello, which never ends',
    start: overTls(
      accepting((socket) => {
        socket.once('data', () => {
          socket.write(Buffer.from([22, 3, 3, 64, 0, 2, 0, 63, 0]))
          dribble(socket, '\u0000')
        })
      }),
    ),
    recorded: lost('timeout'),
    ends: 'deadline',
  },
]
