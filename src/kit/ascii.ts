/** Escapes all non-ASCII characters of a JSON text, so that no program on the way can change its encoding. */
export function toAsciiJson(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
