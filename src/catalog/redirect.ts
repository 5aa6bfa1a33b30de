import { insecureRedirectError } from './fetcher.ts'

/**
 * Resolves a redirect of a request that began at `url` and is now at `from`. Refuses to leave https, or to
 * leave http(s) at all.
 */
export function resolveRedirect(url: string, from: string, location: string): string {
  const to = URL.parse(location, from)
  const plainToPlain = to?.protocol === 'http:' && from.startsWith('http:')
  if (to === null || (to.protocol !== 'https:' && !plainToPlain)) throw insecureRedirectError(url, location)
  return to.href
}
