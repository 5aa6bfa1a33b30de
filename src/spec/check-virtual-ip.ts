import { isIP } from 'node:net'
import { rangesOverlap, toRange } from './cidr.ts'
import type { Cluster } from './cluster.ts'
import { problem, type Problem } from './problem.ts'

const path = ['spec', 'api', 'virtualIP']

/** Checks that the virtual IP is neither the address of a host nor an address of pods or services. */
export function checkVirtualIp({ spec }: Cluster): Problem[] {
  const { virtualIP } = spec.api
  if (virtualIP === undefined) return []
  const hosts = spec.hosts.flatMap(({ name, address, internalAddress }) =>
    [address, internalAddress].includes(virtualIP)
      ? [problem('SPEC_VIRTUAL_IP', path, `${virtualIP} is the address of the host ${name}`, hint)]
      : [],
  )
  const networks = (['pods', 'services'] as const).flatMap((name) =>
    spec.network[name]
      .filter(
        (text) => isIP(text.replace(/\/.*$/, '')) === 4 && rangesOverlap(toRange(text), toRange(virtualIP)),
      )
      .map((text) => problem('SPEC_OVERLAP', path, `${virtualIP} is in spec.network.${name} ${text}`)),
  )
  return [...hosts, ...networks]
}

const hint = 'use an address of the subnet that no machine has'
