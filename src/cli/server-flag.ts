import { InvalidArgumentError } from 'commander'

/** Parses the value of --server: the URL of an API server. */
export function parseServerFlag(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw new InvalidArgumentError('write it as https://HOST:PORT')
  return url.origin
}
