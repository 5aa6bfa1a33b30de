import { formatError } from '../kit/errors.ts'

/** Formats an error without the leading host name, for callers that print the host themselves. */
export function formatHostError(host: string, error: unknown): string {
  const text = formatError(error)
  return text.startsWith(`${host}: `) ? text.slice(host.length + 2) : text
}
