/** A `Paint` that leaves texts without colour. */
export const noPaint = (_colour: string, text: string): string => text
