import type { Ledger } from '../../../contract/ledger.ts'
import type { Host } from '../../host/host.ts'
import { removeCgroups } from './cgroups.ts'
import { removeChains } from './iptables-chains.ts'
import { endContainers } from './containers.ts'
import { removeData } from './data.ts'
import { leftoversOf } from './leftovers.ts'
import { removeLinks } from './links.ts'
import { unmountAll } from './mounts.ts'
import type { Step } from './linux-leftover-step.ts'
import { removeTables } from './nft-tables.ts'
import { windowsSteps } from './windows-leftover-steps.ts'

const linuxSteps: readonly (readonly [name: string, step: Step])[] = [
  ['containers', endContainers],
  ['mounts', unmountAll],
  ['links', removeLinks],
  ['tables of nftables', removeTables],
  ['chains of iptables', removeChains],
  ['control groups', removeCgroups],
  ['data', removeData],
]

/** Takes one kind of leftover away, and answers with what was there of it. */
export type LeftoverStep = readonly [name: string, take: (signal: AbortSignal) => Promise<readonly string[]>]

/** All that the programs of a host have made and leave behind, one kind after the other. */
export function leftoverSteps(host: Host, ledger: Ledger): readonly LeftoverStep[] {
  if (host.os === 'windows') return windowsSteps(host, ledger)
  const leftovers = leftoversOf(ledger)
  return linuxSteps.map(([name, step]) => [name, async (signal) => step(host, leftovers, signal)])
}
