import { clockIn, openState } from './hours.js'
import { composeMail } from './mail.js'

// Opening hours: mark today in the table, and say whether it is open now.
const hours = document.querySelector('[data-time-zone]')
const { day, time } = clockIn(hours.dataset.timeZone || undefined)
const today = hours.querySelector(`[data-day="${day}"]`)

if (today) {
  const times = [...today.querySelectorAll('time')].map((element) => element.textContent)
  today.setAttribute('aria-current', 'date')
  document.querySelector('#open-now').textContent = openState(time, times)
}

// Contact: the browser has checked the fields before this runs.
const form = document.querySelector('form')

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const address = form.getAttribute('action')
  const fields = Object.fromEntries(new FormData(form))
  location.href = composeMail(address, fields)
  document.querySelector('#sent').textContent =
    `Your mail program should open now. If it does not, write to ${address.replace('mailto:', '')}.`
})
