/** JSON as it was, in letters that no program on the way writes in another way. */
export function asciiJson(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
