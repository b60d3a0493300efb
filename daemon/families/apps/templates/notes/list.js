const template = document.querySelector('#note')
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A title to show: the first line of the text stands in for a missing one. */
export function titleOf({ title, text }) {
  return title.trim() || text.trim().split('\n')[0].slice(0, 60) || 'Untitled'
}

/** Shows the notes in the list. The page's text is set as text, so a note cannot contain HTML. */
export function showNotes(list, notes) {
  list.replaceChildren(...notes.map(noteItem))
}

function noteItem(note) {
  const item = template.content.firstElementChild.cloneNode(true)
  const title = titleOf(note)
  const time = item.querySelector('time')
  item.dataset.id = note.id
  item.querySelector('.open').textContent = title
  item.querySelector('.text').textContent = note.text
  item.querySelector('.delete').setAttribute('aria-label', `Delete ${title}`)
  time.dateTime = new Date(note.changed).toISOString()
  time.textContent = dates.format(note.changed)
  return item
}
