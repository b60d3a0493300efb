/** Status codes for which the web-standard `Response` refuses a body. */
export const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])
