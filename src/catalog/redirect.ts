import { insecureRedirectError } from './fetcher.ts'

/**
 * Returns the target URL of a redirect from `from`. Throws if it leads from https to http or to another
 * protocol. `url` is the original URL, for the message.
 */
export function resolveRedirect(url: string, from: string, location: string): string {
  const to = URL.parse(location, from)
  const plainToPlain = to?.protocol === 'http:' && from.startsWith('http:')
  if (to === null || (to.protocol !== 'https:' && !plainToPlain)) throw insecureRedirectError(url, location)
  return to.href
}
