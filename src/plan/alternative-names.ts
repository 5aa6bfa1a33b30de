import { isIP } from 'node:net'
import type { PlannedCertificate } from '../contract/component-plan.ts'

/**
 * Splits the names of a server into DNS names and IP addresses and removes duplicates. A node name may be an
 * IP address.
 */
export function splitAlternativeNames(...names: readonly string[]): PlannedCertificate['names'] {
  const unique = [...new Set(names)]
  return { dns: unique.filter((name) => isIP(name) === 0), ip: unique.filter((name) => isIP(name) !== 0) }
}
