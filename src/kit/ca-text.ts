import { X509Certificate } from 'node:crypto'

/** True if a text is a PEM certificate, or several of them, and contains no private key. */
export function isCaText(text: string): boolean {
  if (text.includes('PRIVATE KEY')) return false
  try {
    return new X509Certificate(text).subject !== undefined
  } catch {
    return false
  }
}
