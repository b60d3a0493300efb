import type { ServerResponse } from 'node:http'
import { cancelAtPeriodEnd } from './billing.ts'
import type { Asked } from './control.ts'
import type { FakeStripe } from './fake.ts'
import { FAKE_CARD, NOTICE } from './names.ts'
import type { FakeSession } from './objects.ts'
import { Refusal } from './refusal.ts'

type Press = (fake: FakeStripe, id: string) => FakeSession

/** The buttons of a checkout page. */
const BUTTONS: Readonly<Record<string, { readonly text: string; readonly press: Press }>> = {
  pay: {
    text: `Pay with the fake card ${FAKE_CARD}`,
    press: ({ checkouts }, id) => checkouts.pay(id),
  },
  later: { text: 'Pay in some days', press: ({ checkouts }, id) => checkouts.payLater(id) },
  decline: {
    text: 'Try a card that is declined',
    press: ({ checkouts }, id) => checkouts.decline(id),
  },
  leave: { text: 'Leave', press: ({ state }, id) => state.get('sessions', id) },
}

/** Answers the pages that customers see. */
export function answerPage(fake: FakeStripe, asked: Asked, response: ServerResponse): void {
  try {
    const [, , kind = '', id = ''] = asked.path.split('/')
    if (kind === 'pay') checkoutPage(fake, id, asked, response)
    else if (kind === 'session') portalPage(fake, id, asked, response)
    else send(response, 404, page('There is no such page.'))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    send(response, error.status, page(error.message))
  }
}

function checkoutPage(fake: FakeStripe, id: string, asked: Asked, response: ServerResponse): void {
  const session = fake.state.get('sessions', id)
  if (asked.method !== 'POST') {
    const { mode, amount_total, currency, status } = session
    const sold = mode === 'setup' ? 'A payment method' : `${amount_total} ${currency} (minor units)`
    const buttons = Object.entries(BUTTONS).map(([name, { text }]) => button(name, text))
    return send(response, 200, page(`${sold}, ${mode}, ${status}`, buttons.join('\n')))
  }
  const name = new URLSearchParams(asked.body).get('do') ?? ''
  const pressed = BUTTONS[name]?.press(fake, id)
  if (pressed === undefined) return send(response, 400, page('There is no such button.'))
  const isDone = pressed.status === 'complete'
  response.writeHead(303, {
    location: (isDone ? pressed.success_url : (pressed.cancel_url ?? pressed.url)) ?? fake.url,
  })
  response.end()
}

function portalPage(
  fake: FakeStripe,
  customer: string,
  asked: Asked,
  response: ServerResponse,
): void {
  const own = fake.state
    .all('subscriptions')
    .filter((one) => one.customer === customer && one.status !== 'canceled')
  if (asked.method === 'POST') for (const { id } of own) cancelAtPeriodEnd(fake.state, id, true)
  const text = own.map(({ id, status }) => `${id}: ${status}`).join(', ')
  send(response, 200, page(text || 'No subscription.', button('cancel', 'Cancel at the end')))
}

function button(name: string, text: string): string {
  return `<form method="post"><button name="do" value="${name}">${escape(text)}</button></form>`
}

function page(text: string, rest = ''): string {
  return `<!doctype html>
<meta charset="utf-8">
<title>${NOTICE}</title>
<h1>${NOTICE}</h1>
<p>${escape(text)}</p>
${rest}
`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function send(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(html)
}
