/** Prefix of key values when the operator or embedder chose no brand. */
export const DEFAULT_KEY_PREFIX = 'service_dk_'
