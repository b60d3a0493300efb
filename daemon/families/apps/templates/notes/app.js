import { showNotes, titleOf } from './list.js'
import {
  merge,
  newNote,
  parseNotes,
  printNotes,
  readNotes,
  searchNotes,
  withNote,
  writeNotes,
} from './store.js'

const find = (selector) => document.querySelector(selector)

const list = find('#list')
const search = find('#search')
const dialog = find('dialog')
const undo = find('#undo')

/** The note in the dialog, as it was when the dialog opened. */
let editing = null
/** The notes that Undo brings back, the last one first. */
const deleted = []

const countOf = (notes) => (notes.length === 1 ? '1 note' : `${notes.length} notes`)

function render() {
  const all = readNotes()
  const found = searchNotes(all, search.value)
  showNotes(list, found)
  find('#count').textContent = search.value.trim()
    ? `Found ${countOf(found)} of ${all.length}`
    : `Your notes (${all.length})`
  find('#empty').hidden = all.length > 0
}

function save(notes) {
  const stored = writeNotes(notes)
  render()
  if (!stored) say('This browser does not let the page store notes. Export them before you leave.')
}

/** Shows a message, which screen readers read aloud. It stays until the next one. */
function say(text) {
  find('#message').textContent = text
  undo.hidden = deleted.length === 0
}

function focusNote(id) {
  const item = [...list.children].find((one) => one.dataset.id === id)
  const target = item?.querySelector('.open') ?? find('#new')
  target.focus()
}

// Writing. Whatever closes the dialog saves the note, except the button that discards.

function openNote(note) {
  editing = note
  find('#title').value = note.title
  find('#text').value = note.text
  dialog.returnValue = ''
  dialog.showModal()
}

function saveOpenNote() {
  const title = find('#title').value
  const text = find('#text').value
  const isChanged = title !== editing.title || text !== editing.text
  if (!isChanged) return
  editing = { ...editing, title, text, changed: Date.now() }
  save(withNote(readNotes(), editing))
}

dialog.addEventListener('close', () => {
  if (dialog.returnValue !== 'discard') saveOpenNote()
  focusNote(editing.id)
  editing = null
})

// The page may be closed while a note is open.
addEventListener('pagehide', () => {
  if (editing) saveOpenNote()
})

find('#new').addEventListener('click', () => {
  search.value = ''
  openNote(newNote())
})

// Opening and deleting. One listener on the list serves all notes in it.

list.addEventListener('click', ({ target }) => {
  const id = target.closest('li')?.dataset.id
  const note = readNotes().find((one) => one.id === id)
  if (!note) return
  if (target.matches('.open')) openNote(note)
  if (target.matches('.delete')) deleteNote(note)
})

function deleteNote(note) {
  deleted.push(note)
  say(`Deleted ${titleOf(note)}.`)
  save(readNotes().filter(({ id }) => id !== note.id))
  undo.focus()
}

undo.addEventListener('click', () => {
  const note = deleted.pop()
  search.value = ''
  say(`Brought back ${titleOf(note)}.`)
  save(withNote(readNotes(), note))
  focusNote(note.id)
})

search.addEventListener('input', render)

// Another tab of this app has changed the notes.
addEventListener('storage', render)

// Export and import.

find('#export').addEventListener('click', () => {
  const file = new Blob([printNotes(readNotes())], { type: 'application/json' })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = `notes-${new Date().toISOString().slice(0, 10)}.json`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  say('Your notes are in your downloads.')
})

find('#import').addEventListener('change', async ({ target }) => {
  const [file] = target.files
  if (!file) return
  try {
    const imported = parseNotes(await file.text())
    say(`Imported ${countOf(imported)} from ${file.name}.`)
    save(merge(readNotes(), imported))
  } catch {
    say(`${file.name} is not a file of notes that was exported here.`)
  }
  target.value = ''
})

render()
