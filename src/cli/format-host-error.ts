import { describe } from '../kit/errors.ts'

/** Why a host did something wrong, for those who name the host themselves. */
export function reasonOf(host: string, error: unknown): string {
  const text = describe(error)
  return text.startsWith(`${host}: `) ? text.slice(host.length + 2) : text
}
