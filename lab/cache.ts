import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where the lab keeps what is costly to make: outside the checkout, so that a clone starts warm. */
export function cacheDirectory(): string {
  const { HYPERKUBE_LAB_CACHE: own, XDG_CACHE_HOME: users } = process.env
  return own ?? join(users ?? join(homedir(), '.cache'), 'hyperkube-lab')
}
