import { firewallCommands } from '../../plan/checks/firewall.ts'
import type { RequiredPort } from '../../plan/checks/ports.ts'
import { formatNames } from '../../rollout/format-names.ts'
import type { FailureGroup } from './fold.ts'
import type { Peer } from './peer.ts'

/** Suggests how to open the blocked ports: a command if the firewall of the host is known. */
export function buildFirewallHint({ side, host, results }: FailureGroup): string {
  const ports = [
    ...new Map(results.map(({ connection: { port } }) => [`${port.port}/${port.protocol}`, port])).values(),
  ]
  const portTexts = ports.map(({ port, protocol }) => `${port}/${protocol}`)
  const [first] = results
  if (side === 'from' || first === undefined) {
    const others = [...new Set(results.map(({ connection }) => connection.to.host))]
    return `let ${formatNames(portTexts, 6)} out of ${host} and into ${formatNames(others)}, also in firewalls and security groups in between`
  }
  return `on ${host}: ${buildFirewallCommand(first.connection.to, ports)}`
}

function buildFirewallCommand({ os, firewalls }: Peer, ports: readonly RequiredPort[]): string {
  if (os === 'windows') {
    const rules = ports.map(
      ({ port, protocol, component }) =>
        `New-NetFirewallRule -DisplayName ${component} -Direction Inbound -Action Allow -Protocol ${protocol} -LocalPort ${port}`,
    )
    return rules.join('; ')
  }
  if (firewalls.length > 0) return firewalls.map((name) => firewallCommands[name](ports, [])).join(' && ')
  return 'nft list ruleset shows the rules of the host; otherwise check firewalls and security groups in between'
}
