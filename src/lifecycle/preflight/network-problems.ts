import { isIP } from 'node:net'
import type { Finding } from '../../contract/finding.ts'
import type { NetworkProbeOutcome } from '../../contract/network-probe.ts'
import { formatNames } from '../../kit/text.ts'
import { firewallCommands } from '../../plan/checks/packet-filter.ts'
import type { RequiredPort } from '../../plan/checks/ports.ts'
import type { Peer, RequiredConnection } from './required-connections.ts'
import { type ConnectionResult, countHeaderBytes } from './probe-connections.ts'

/** Converts probe results to findings: one for each kind of problem and host. */
export function findNetworkProblems(results: readonly ConnectionResult[]): readonly Finding[] {
  const problemsByKind = Map.groupBy(results.toSorted(compareConnections), classifyResult)
  return problemOrder.flatMap((kind) =>
    groupFailures(problemsByKind.get(kind) ?? []).map((group) => findingBuilders[kind](group)),
  )
}

/** Sorts results, so that findings do not depend on the order of the responses. */
function compareConnections(
  { connection: a }: ConnectionResult,
  { connection: b }: ConnectionResult,
): number {
  const [left, right] = [`${a.from.host} ${a.to.host}`, `${b.from.host} ${b.to.host}`]
  return left === right ? a.port.port - b.port.port : left < right ? -1 : 1
}

const problemOrder = ['blocked', 'other', 'lost', 'smaller'] as const
type ProblemKind = (typeof problemOrder)[number]

function classifyResult({
  connection,
  result: { outcome },
  listened,
}: ConnectionResult): ProblemKind | undefined {
  if (outcome === 'ok') return undefined
  if (connection.port.protocol === 'udp') return outcome === 'too-big' ? 'smaller' : 'lost'
  if (outcome === 'unexpected-response') return 'other'
  // If no agent listened, a refusal only shows that the component is stopped or listens at another address.
  // This is not a network problem.
  if (outcome === 'refused' && !listened) return undefined
  return 'blocked'
}

const findingBuilders: Readonly<Record<ProblemKind, (group: FailureGroup) => Finding>> = {
  blocked: (group) => buildUnreachableFinding('PEER_PORT_BLOCKED', group),
  lost: (group) => buildUnreachableFinding('PEER_UDP_BLOCKED', group),
  other(group) {
    const { host, results } = group
    const addresses = unique(results.map(({ connection }) => connection.to.address))
    const sources = unique(results.map(({ connection }) => connection.from.host))
    const addressText = group.side === 'to' ? `its address ${formatNames(addresses)}` : formatNames(addresses)
    const sourceText = group.side === 'to' ? formatNames(sources) : 'it'
    return {
      code: 'PEER_ADDRESS_CONFLICT',
      severity: 'error',
      message: `another machine responds at ${addressText} to ${sourceText}, on ${formatPorts(group)}`,
      hint: `on ${sources[0] ?? host}: ip neigh show ${addresses[0] ?? ''}, then find the machine with that MAC address`,
      host,
      ...toComponentField(group),
    }
  },
  smaller(group) {
    const { host, side, results } = group
    const others = unique(results.map(({ connection }) => connection[side === 'to' ? 'from' : 'to'].host))
    const packetBytes = Math.max(...results.map(({ connection }) => connection.from.packetBytes))
    const passedBytes = Math.min(
      ...results.map(
        ({ connection, result }) => (result.size ?? 0) + countHeaderBytes(connection.to.address),
      ),
    )
    const direction =
      side === 'to' ? `from ${formatNames(others)} to it` : `from it to ${formatNames(others)}`
    return {
      code: 'PEER_UDP_SMALLER',
      severity: 'warning',
      message: `pod packets have up to ${packetBytes} bytes, but ${direction} only packets of about ${passedBytes} bytes arrive`,
      hint: `set spec.network.flannel.mtu: ${passedBytes}, or raise the MTU of the links in between to ${packetBytes}`,
      path: 'spec.network.flannel.mtu',
      host,
      ...toComponentField(group),
    }
  },
}

function buildUnreachableFinding(code: string, group: FailureGroup): Finding {
  const reasons = unique(group.results.map(({ result }) => outcomeTexts[result.outcome]))
  return {
    code,
    severity: 'error',
    message: `${describeConnections(group)}: ${reasons.join(', or ')}`,
    hint: buildFirewallHint(group),
    host: group.host,
    ...toComponentField(group),
  }
}

const outcomeTexts: Readonly<Record<NetworkProbeOutcome, string>> = {
  timeout: 'no response',
  refused: 'connection refused',
  unreachable: 'no route, or a firewall rejects it',
  ok: '',
  'unexpected-response': '',
  'too-big': '',
}

/** Describes which connections fail. Ports with the same failing hosts are listed together. */
function describeConnections({ side, results }: FailureGroup): string {
  const other = side === 'to' ? 'from' : 'to'
  const problems = [...Map.groupBy(results, ({ connection }) => formatPort(connection))].map(
    ([port, matching]) => ({
      port,
      others: unique(matching.map(({ connection }) => connection[other].host)),
    }),
  )
  const parts = [...Map.groupBy(problems, ({ others }) => others.join(' '))].flatMap(([, matching]) => {
    const ports = formatPortLabels(matching.map(({ port }) => port))
    const others = matching[0]?.others ?? []
    if (side === 'from') return `cannot reach ${ports} of ${formatNames(others)}`
    return `${formatNames(others)} cannot reach its ${ports}`
  })
  return parts.join('; ')
}

function formatPorts({ results }: FailureGroup): string {
  return formatPortLabels(unique(results.map(({ connection }) => formatPort(connection))))
}

function formatPortLabels(labels: readonly string[]): string {
  return `${labels.length > 1 ? 'ports' : 'port'} ${formatNames(labels, 6)}`
}

function formatPort(connection: RequiredConnection): string {
  return `${formatTransport(connection)} (${connection.port.component})`
}

/** Formats a port and how it is reached. IPv4 is not named, because most connections use it. */
function formatTransport({ to, port: { port, protocol } }: RequiredConnection): string {
  return `${port}/${protocol}${isIP(to.address) === 6 ? ' over IPv6' : ''}`
}

function toComponentField({ results }: FailureGroup): Pick<Finding, 'component'> {
  const [component, ...more] = unique(results.map(({ connection }) => connection.port.component))
  return component === undefined || more.length > 0 ? {} : { component }
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}

/** Suggests how to open the blocked ports: a command if the firewall of the host is known. */
function buildFirewallHint({ side, host, results }: FailureGroup): string {
  const ports = [
    ...new Map(results.map(({ connection: { port } }) => [`${port.port}/${port.protocol}`, port])).values(),
  ]
  const portTexts = unique(results.map(({ connection }) => formatTransport(connection)))
  const [first] = results
  if (side === 'from' || first === undefined) {
    const others = [...new Set(results.map(({ connection }) => connection.to.host))]
    return `allow ${formatNames(portTexts, 6)} from ${host} to ${formatNames(others)}, also in firewalls and security groups in between`
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
  return 'nft list ruleset; if it allows the ports, check firewalls and security groups in between'
}

/**
 * Failures of one host: all connections that it cannot open (`from`), or all that others cannot open to it
 * (`to`).
 */
interface FailureGroup {
  readonly side: 'from' | 'to'
  readonly host: string
  readonly results: readonly ConnectionResult[]
}

/**
 * Groups failures under as few hosts as possible, because one firewall can block many connections. Of two
 * equally large groups the group of the target host is taken, because packets are mostly dropped there.
 */
function groupFailures(failures: readonly ConnectionResult[]): readonly FailureGroup[] {
  const failureGroups: FailureGroup[] = []
  let rest = failures
  while (rest.length > 0) {
    const largest = [...groupBySide(rest, 'to'), ...groupBySide(rest, 'from')].reduce((best, group) =>
      group.results.length > best.results.length ? group : best,
    )
    failureGroups.push(largest)
    const explained = new Set(largest.results)
    rest = rest.filter((failure) => !explained.has(failure))
  }
  return failureGroups.toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

function groupBySide(
  failures: readonly ConnectionResult[],
  side: FailureGroup['side'],
): readonly FailureGroup[] {
  return [...Map.groupBy(failures, ({ connection }) => connection[side].host)]
    .map(([host, results]) => ({ side, host, results }))
    .toSorted((a, b) => (a.host < b.host ? -1 : 1))
}
