// Where the notes are kept: in this browser's localStorage, as JSON under one name.
// Apps that share an address share this storage, so give each app a name of its own.
const NAME = 'notes'

/** The notes that the browser refused to store: they last as long as the page. */
let unstored = null

const isTime = (value) => typeof value === 'number' && !Number.isNaN(new Date(value).getTime())

const isNote = (value) =>
  typeof value?.id === 'string' &&
  typeof value.title === 'string' &&
  typeof value.text === 'string' &&
  isTime(value.changed)

const onlyKnownFields = ({ id, title, text, changed }) => ({ id, title, text, changed })

const newestFirst = (notes) => [...notes].sort((a, b) => b.changed - a.changed)

/** The notes that a text holds. Throws when it is no list of notes. */
export function parseNotes(json) {
  const notes = JSON.parse(json)
  if (!Array.isArray(notes) || !notes.every(isNote)) throw new TypeError('Not a list of notes')
  return notes.map(onlyKnownFields)
}

export function printNotes(notes) {
  return JSON.stringify(notes, null, 2)
}

/** All notes, the newest first. */
export function readNotes() {
  if (unstored) return newestFirst(unstored)
  const stored = readStorage()
  try {
    return newestFirst(parseNotes(stored))
  } catch {
    keepAside(stored)
    return []
  }
}

function readStorage() {
  try {
    return localStorage.getItem(NAME) ?? '[]'
  } catch {
    return '[]'
  }
}

/** Replaces all notes. Answers false when they will be gone with the page. */
export function writeNotes(notes) {
  try {
    localStorage.setItem(NAME, JSON.stringify(notes))
    unstored = null
  } catch {
    unstored = notes
  }
  return unstored === null
}

/** What cannot be read is not thrown away: somebody may still repair it. */
function keepAside(text) {
  try {
    localStorage.setItem(`${NAME}-unreadable`, text)
  } catch {
    // Nothing more can be done.
  }
}

/** The note as a new one or in the place of its earlier state. */
export function withNote(notes, note) {
  return newestFirst([...notes.filter(({ id }) => id !== note.id), note])
}

/** Both lists in one; of a note that is in both, the one that changed last. */
export function merge(notes, imported) {
  const all = new Map(notes.map((note) => [note.id, note]))
  for (const note of imported) {
    const own = all.get(note.id)
    if (own === undefined || own.changed < note.changed) all.set(note.id, note)
  }
  return newestFirst(all.values())
}

/** The notes that contain every word of the query, in any order. */
export function searchNotes(notes, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return notes.filter(({ title, text }) => {
    const all = `${title}\n${text}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
}

export function newNote() {
  const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`
  return { id, title: '', text: '', changed: Date.now() }
}
