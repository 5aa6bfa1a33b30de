import { opens } from '../../plan/checks/firewall.ts'
import type { Port } from '../../plan/checks/ports.ts'
import { list } from '../../rollout/format-names.ts'
import type { Fold } from './fold.ts'
import type { Peer } from './peer.ts'

/** What to do that packets get in, as the thing to type where it is known who keeps them out. */
export function opening({ side, host, observed }: Fold): string {
  const ports = [
    ...new Map(observed.map(({ need: { port } }) => [`${port.port}/${port.protocol}`, port])).values(),
  ]
  const texts = ports.map(({ port, protocol }) => `${port}/${protocol}`)
  const [first] = observed
  if (side === 'from' || first === undefined) {
    const others = [...new Set(observed.map(({ need }) => need.to.host))]
    return `let ${list(texts, 6)} out of ${host} and into ${list(others)}, also in firewalls and security groups in between`
  }
  return `on ${host}: ${command(first.need.to, ports)}`
}

function command({ os, gatekeepers }: Peer, ports: readonly Port[]): string {
  if (os === 'windows') {
    const rules = ports.map(
      ({ port, protocol, component }) =>
        `New-NetFirewallRule -DisplayName ${component} -Direction Inbound -Action Allow -Protocol ${protocol} -LocalPort ${port}`,
    )
    return rules.join('; ')
  }
  if (gatekeepers.length > 0) return gatekeepers.map((name) => opens[name](ports, [])).join(' && ')
  return 'nft list ruleset shows what its own rules turn away; else it is a firewall or security group in between'
}
