/** Where the payment processor sends a person back to. */
export const RETURN_URL: string = new URL('billing?from=payment', document.baseURI).href

/** Leaves for a page of the payment processor: an address of the web, and nothing else that a browser would run. */
export function openPage(url: string): void {
  if (isWebAddress(url)) location.assign(url)
}

export function isWebAddress(url: string | null): url is string {
  return url !== null && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}
