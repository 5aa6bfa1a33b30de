import type { ProbeOutcome } from '../../contract/network-probe.ts'
import type { Finding } from '../../contract/finding.ts'
import type { Port } from '../../plan/checks/ports.ts'
import { list } from '../../rollout/format-names.ts'
import { fold, type Fold } from './fold.ts'
import type { Observed } from './probe-connections.ts'
import { opening } from './remedy.ts'
import { headers } from './probe-target.ts'

/** What was seen, as a person should know it: one finding for each host and matter. */
export function judge(observed: readonly Observed[]): readonly Finding[] {
  const matters = Map.groupBy(observed.toSorted(byName), matterOf)
  return order.flatMap((matter) => fold(matters.get(matter) ?? []).map((one) => findings[matter](one)))
}

/** Whoever answered first, the same is said of it. */
function byName({ need: a }: Observed, { need: b }: Observed): number {
  const [left, right] = [`${a.from.host} ${a.to.host}`, `${b.from.host} ${b.to.host}`]
  return left === right ? a.port.port - b.port.port : left < right ? -1 : 1
}

const order = ['blocked', 'other', 'lost', 'smaller'] as const
type Matter = (typeof order)[number]

function matterOf({ need, result: { outcome }, listened }: Observed): Matter | undefined {
  if (outcome === 'ok') return undefined
  if (need.port.protocol === 'udp') return outcome === 'too-big' ? 'smaller' : 'lost'
  if (outcome === 'other-answer') return 'other'
  // Whoever has the port is not there just now, or not at this address: that is no matter of the way.
  if (outcome === 'refused' && !listened) return undefined
  return 'blocked'
}

const findings: Readonly<Record<Matter, (one: Fold) => Finding>> = {
  blocked: (one) => unreached('PEER_PORT_BLOCKED', one),
  lost: (one) => unreached('PEER_UDP_BLOCKED', one),
  other(one) {
    const { host, observed } = one
    const addresses = unique(observed.map(({ need }) => need.to.address))
    const askers = unique(observed.map(({ need }) => need.from.host))
    const where = one.side === 'to' ? `its address ${list(addresses)}` : list(addresses)
    const who = one.side === 'to' ? list(askers) : 'it'
    return {
      code: 'PEER_OTHER_ANSWERS',
      severity: 'error',
      message: `at ${where} somebody else answers ${who}, on ${portsText(one)}`,
      hint: `on ${askers[0] ?? host}: ip neigh show ${addresses[0] ?? ''} says whose machine that is`,
      host,
      ...componentOf(one),
    }
  },
  smaller(one) {
    const { host, side, observed } = one
    const others = unique(observed.map(({ need }) => need[side === 'to' ? 'from' : 'to'].host))
    const wanted = Math.max(...observed.map(({ need }) => need.from.packet))
    const passed = Math.min(
      ...observed.map(({ need, result }) => (result.size ?? 0) + headers(need.to.address)),
    )
    const way = side === 'to' ? `from ${list(others)} to it` : `from it to ${list(others)}`
    return {
      code: 'PEER_UDP_SMALLER',
      severity: 'warning',
      message: `packets of pods have up to ${wanted} bytes, and on the way ${way} only those of about ${passed} arrive`,
      hint: `spec.network.flannel.mtu: ${passed}, or let the links in between carry ${wanted}`,
      path: 'spec.network.flannel.mtu',
      host,
      ...componentOf(one),
    }
  },
}

function unreached(code: string, one: Fold): Finding {
  const reasons = unique(one.observed.map(({ result }) => words[result.outcome]))
  return {
    code,
    severity: 'error',
    message: `${waysText(one)}: ${reasons.join(', or ')}`,
    hint: opening(one),
    host: one.host,
    ...componentOf(one),
  }
}

const words: Readonly<Record<ProbeOutcome, string>> = {
  timeout: 'no answer comes',
  refused: 'it is refused',
  unreachable: 'there is no way, or a firewall says so',
  ok: '',
  'other-answer': '',
  'too-big': '',
}

/** Who does not reach what, those with the same trouble together. */
function waysText({ side, observed }: Fold): string {
  const other = side === 'to' ? 'from' : 'to'
  const troubles = [...Map.groupBy(observed, ({ need }) => label(need.port))].map(([port, some]) => ({
    port,
    others: unique(some.map(({ need }) => need[other].host)),
  }))
  const parts = [...Map.groupBy(troubles, ({ others }) => others.join(' '))].flatMap(([, some]) => {
    const ports = portList(some.map(({ port }) => port))
    const others = some[0]?.others ?? []
    if (side === 'from') return `it does not reach ${ports} of ${list(others)}`
    return `${list(others)} ${others.length > 1 ? 'do' : 'does'} not reach its ${ports}`
  })
  return parts.join('; ')
}

function portsText({ observed }: Fold): string {
  return portList(unique(observed.map(({ need }) => label(need.port))))
}

function portList(labels: readonly string[]): string {
  return `${labels.length > 1 ? 'ports' : 'port'} ${list(labels, 6)}`
}

function label({ port, protocol, component }: Port): string {
  return `${port}/${protocol} (${component})`
}

function componentOf({ observed }: Fold): Pick<Finding, 'component'> {
  const [component, ...more] = unique(observed.map(({ need }) => need.port.component))
  return component === undefined || more.length > 0 ? {} : { component }
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}
