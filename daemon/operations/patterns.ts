/** White space as `String.prototype.trim` removes it. Other languages read the published pattern too. */
export const BLANK =
  '\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'
/**
 * Control characters, and characters that hide, join or reorder text. Written out, because validators of
 * other languages know other Unicode properties, or none.
 */
export const UNSEEN =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufff9-\\ufffb'
/** U+0000, escaped for a pattern. */
export const NUL = '\\u0000'
/** Pattern of a model's name. */
export const MODEL_NAME = /^[A-Za-z0-9_.:/@+-]{1,100}$/
