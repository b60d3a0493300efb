/** How the names of the service and of its apps are to each other: as they should be, or of one site. */
export type Nearness = 'apart' | 'same site'

type By<Value> = Value | Readonly<Record<Nearness, Value>>

/** One attempt of hostile/attempts.js. */
export interface Attempt {
  readonly name: string
  readonly tries: string
  /** What the page must get: a text, or the name of an error. */
  readonly gets: By<string>
  /** The codes with which the service must refuse it; without any it is not asked, or answers unseen. */
  readonly refused?: By<readonly string[]>
  /** Addresses of the frames that the page must be left with. */
  readonly frames?: readonly string[]
}

const NOT_READ = 'TypeError'
const OPAQUE = 'opaque 0 '
const REFUSED_FRAME = 'chrome-error://chromewebdata/'
/** The service says to nobody that pages of others may ask it. */
const NO_LEAVE = ['method_not_allowed']
/** The cookie stays behind where names are strangers to each other. */
const UNKNOWN = { apart: ['missing_credentials'], 'same site': [] }
const FORGED = { apart: ['missing_credentials'], 'same site': ['csrf_failed'] }

export const ATTEMPTS: readonly Attempt[] = [
  {
    name: 'read',
    tries: 'to read as whoever is signed in',
    gets: NOT_READ,
    refused: UNKNOWN,
  },
  {
    name: 'readUnseen',
    tries: 'to read without leave',
    gets: OPAQUE,
    refused: UNKNOWN,
  },
  {
    name: 'readWithKey',
    tries: 'to read with a key that leaked',
    gets: NOT_READ,
    refused: NO_LEAVE,
  },
  {
    name: 'readAsScript',
    tries: 'to run an answer as a script',
    gets: 'not run',
    refused: UNKNOWN,
  },
  {
    name: 'follow',
    tries: 'to follow a stream',
    gets: 'error',
    refused: UNKNOWN,
  },
  { name: 'connect', tries: 'to open a socket', gets: 'error', refused: UNKNOWN },
  { name: 'create', tries: 'to create an app', gets: NOT_READ, refused: NO_LEAVE },
  {
    name: 'createUnseen',
    tries: 'to create an app without leave',
    gets: OPAQUE,
    refused: FORGED,
  },
  {
    name: 'createByBeacon',
    tries: 'to create an app by a beacon',
    gets: 'sent',
    refused: FORGED,
  },
  {
    name: 'createByForm',
    tries: 'to create an app by a form',
    gets: 'sent',
    refused: FORGED,
  },
  { name: 'upload', tries: 'to upload a file', gets: OPAQUE, refused: FORGED },
  {
    name: 'unpublish',
    tries: 'to take another app offline',
    gets: OPAQUE,
    refused: FORGED,
  },
  { name: 'archive', tries: 'to archive another app', gets: NOT_READ, refused: NO_LEAVE },
  {
    name: 'signIn',
    tries: 'to sign its visitor in as somebody else',
    gets: 'sent',
    refused: ['csrf_failed'],
  },
  { name: 'signOut', tries: 'to sign its visitor out', gets: NOT_READ, refused: NO_LEAVE },
  { name: 'readCookies', tries: 'to read cookies', gets: '' },
  {
    name: 'setCookies',
    tries: 'to set cookies that others are sent',
    // Which is why apps should have a domain of their own, as docs/operate.md says.
    gets: { apart: '', 'same site': 'planted=1; planted=1' },
  },
  { name: 'widen', tries: 'to stand for the names above its own', gets: 'its own name' },
  { name: 'readStorage', tries: 'to read what others store', gets: '[[],[],[]]' },
  {
    name: 'frameApi',
    tries: 'to frame a page of the service',
    gets: 'nothing',
    frames: [REFUSED_FRAME],
  },
  {
    name: 'frameReference',
    tries: 'to frame the reference',
    gets: 'nothing',
    frames: [REFUSED_FRAME],
  },
  {
    name: 'frameNeighbour',
    tries: 'to frame another app',
    gets: 'nothing',
    frames: [REFUSED_FRAME],
  },
  {
    name: 'frameAnswer',
    tries: 'to look into a frame with an answer',
    gets: 'nothing',
    refused: UNKNOWN,
    frames: [REFUSED_FRAME],
  },
  { name: 'openApi', tries: 'to hold a window of the service', gets: 'nothing' },
  { name: 'openReference', tries: 'to hold a window of the reference', gets: 'nothing' },
  { name: 'registerOfApi', tries: 'to take a worker from the service', gets: 'SecurityError' },
  { name: 'registerForApi', tries: 'to set a worker over the service', gets: 'SecurityError' },
  {
    name: 'registerForNeighbour',
    tries: 'to set a worker over another app',
    gets: 'SecurityError',
  },
  { name: 'accuse', tries: 'to report errors of another app', gets: OPAQUE },
]

export function byNearness<Value>(value: By<Value>, nearness: Nearness): Value {
  return isByNearness(value) ? value[nearness] : value
}

function isByNearness<Value>(value: By<Value>): value is Readonly<Record<Nearness, Value>> {
  return typeof value === 'object' && value !== null && 'apart' in value
}
