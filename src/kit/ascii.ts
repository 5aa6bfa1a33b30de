/**
 * Escapes all non-ASCII characters in a JSON text, so that programs that assume another encoding cannot
 * change the text.
 */
export function toAsciiJson(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
