const declared = document.querySelector<HTMLMetaElement>('meta[name="application-name"]')

/** The brand's name, which the daemon writes into the page. */
export const BRAND: string = declared?.content ?? 'Keyhook'
