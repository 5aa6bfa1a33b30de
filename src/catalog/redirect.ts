import { insecure } from './fetcher.ts'

/** Where a redirect leads, of a request that began at `url` and came to `from`. Never out of encryption, nor of the web. */
export function redirectTarget(url: string, from: string, location: string): string {
  const to = URL.parse(location, from)
  const plainToPlain = to?.protocol === 'http:' && from.startsWith('http:')
  if (to === null || (to.protocol !== 'https:' && !plainToPlain)) throw insecure(url, location)
  return to.href
}
