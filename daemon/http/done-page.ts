import type { Page } from './documents.ts'

const BODY = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Thank you</title>
<h1>Thank you</h1>
<p>You can close this page. Credit and plan change when the payment processor reports the payment, which
takes seconds for most methods and days for some. This page changes nothing.</p>
</html>
`

/** Where the pages of a payment processor lead back to. */
export const DONE_PAGE: Readonly<Record<string, Page>> = {
  '/billing/done': { type: 'text/html; charset=utf-8', body: BODY },
}
