import { InvalidArgumentError } from 'commander'

/** What stands after --server: where an API is reached. */
export function serverFlag(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw new InvalidArgumentError('write it as https://HOST:PORT')
  return url.origin
}
