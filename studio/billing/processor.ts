/** Where the payment processor sends a person back to. */
export const RETURN_URL: string = new URL('billing?from=payment', document.baseURI).href

/** @throws TypeError for what is no address of the web: a browser would run it */
export function requireWebAddress(url: string): string {
  if (!isWebAddress(url)) throw new TypeError('The payment processor gave no web address.')
  return url
}

export function isWebAddress(url: string | null): url is string {
  return url !== null && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

/** For `mutate`: who has left the page meanwhile stays where they are. */
export const LEAVE_FOR = { onSuccess: (url: string): void => location.assign(url) } as const
