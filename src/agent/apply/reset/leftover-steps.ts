import type { Ledger } from '../../../contract/ledger.ts'
import type { Host } from '../../host/host.ts'
import { removePodCgroups } from './cgroups.ts'
import { removeChains } from './iptables-chains.ts'
import { killContainers } from './containers.ts'
import { removeComponentData } from './data.ts'
import { listLeftovers } from './leftovers.ts'
import { removeLinks } from './links.ts'
import { unmountAll } from './mounts.ts'
import type { LinuxLeftoverStep, LeftoverStep } from './leftover-step.ts'
import { removeNftTables } from './nft-tables.ts'
import { listWindowsLeftoverSteps } from './windows-leftover-steps.ts'

const linuxSteps: readonly (readonly [name: string, step: LinuxLeftoverStep])[] = [
  ['containers', killContainers],
  ['mounts', unmountAll],
  ['links', removeLinks],
  ['tables of nftables', removeNftTables],
  ['chains of iptables', removeChains],
  ['control groups', removePodCgroups],
  ['data', removeComponentData],
]

/** Lists the steps, in order, that remove what programs created on the host. */
export function listLeftoverSteps(host: Host, ledger: Ledger): readonly LeftoverStep[] {
  if (host.os === 'windows') return listWindowsLeftoverSteps(host, ledger)
  const leftovers = listLeftovers(ledger)
  return linuxSteps.map(([name, step]) => [name, async (signal) => step(host, leftovers, signal)])
}
