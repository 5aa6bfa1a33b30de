import { isIP } from 'node:net'
import type { PlannedCertificate } from '../contract/component-plan.ts'

/** What a server may be called, each name once and where it belongs: an address may also be the name of a node. */
export function alternativeNames(...names: readonly string[]): PlannedCertificate['names'] {
  const all = [...new Set(names)]
  return { dns: all.filter((name) => isIP(name) === 0), ip: all.filter((name) => isIP(name) !== 0) }
}
