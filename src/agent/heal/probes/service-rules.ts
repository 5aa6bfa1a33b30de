import { truncateList } from '../../../kit/truncate-list.ts'
import type { RunCommand } from '../../host/command.ts'
import { type ProbeRunner, type ChecksByKind, failedResult, healthyResult } from './probe-runner.ts'
import type { ProbeDeps } from './probe-deps.ts'
import type { ServicePort, ServiceReader } from './service-reader.ts'

/**
 * Number of services whose missing rules are confirmed with the API, because the cached list may be outdated.
 */
const sampleSize = 3

/**
 * Checks whether the packet filter has rules for all services. kube-proxy writes changes at once, but it
 * restores deleted rules only once an hour.
 */
export function createServiceRulesProbe(
  { command, clock }: Pick<ProbeDeps, 'command' | 'clock'>,
  services: ServiceReader,
): ProbeRunner<'service-rules'> {
  return async ({ mode, kubeconfig }, signal) => {
    const ports = await services.listPorts(kubeconfig, clock.now(), signal)
    const rules = await readers[mode](command, signal)
    const missing = ports.filter(({ rule }) => !rules.has(rule))
    const confirmed: ServicePort[] = []
    for (const port of missing.slice(0, sampleSize)) {
      const now = await services.fetchPorts(kubeconfig, port, clock.now(), signal)
      if (now.some(({ rule }) => rule === port.rule)) confirmed.push(port)
    }
    if (confirmed.length === 0) return healthyResult
    if (rules.size === 0) return failedResult('SERVICE_RULES', 'the packet filter knows no service at all')
    const names = confirmed.map(({ namespace, service, rule }) => `${namespace}/${service} (${rule})`)
    return failedResult('SERVICE_RULES', `the packet filter does not know ${truncateList(names, 3)}`)
  }
}

type ReadRules = (command: RunCommand, signal: AbortSignal) => Promise<ReadonlySet<string>>

/**
 * Functions that read the rules of kube-proxy, one per proxy mode. Each runs one program, which is the main
 * cost of this probe.
 */
const readers: Readonly<Record<ChecksByKind['service-rules']['mode'], ReadRules>> = {
  nftables: async (command, signal) => {
    const argv = ['nft', 'list', 'map', 'ip', 'kube-proxy', 'service-ips'] as const
    const { code, stdout, stderr } = await command(argv, { codes: [0, 1], signal })
    if (code === 0) return parseNftRules(stdout)
    // If the table does not exist, there are no rules. After any other error the rules are unknown.
    if (stderr.includes('No such file or directory')) return new Set()
    throw new Error(stderr)
  },
  iptables: async (command, signal) =>
    parseIptablesRules((await command(['iptables-save', '-t', 'nat'], { signal })).stdout),
}

/** Parses map elements such as 10.96.0.10 . udp . 53 : goto service-ULMVA6XW-kube-system/kube-dns/udp/dns. */
export function parseNftRules(text: string): ReadonlySet<string> {
  const elements = text.matchAll(/(\d+\.\d+\.\d+\.\d+) \. (\w+) \. (\d+)/g)
  return new Set([...elements].map(([, address, protocol, port]) => `${address} ${protocol} ${port}`))
}

/**
 * Parses rules such as -A KUBE-SERVICES -d 10.96.0.10/32 -p udp … --dport 53 -j KUBE-SVC-TCOU7JCQXEZGVUNU.
 */
export function parseIptablesRules(text: string): ReadonlySet<string> {
  const rules = text.matchAll(/^-A KUBE-SERVICES -d ([\d.]+)\/32 -p (\w+) .*--dport (\d+) /gm)
  return new Set([...rules].map(([, address, protocol, port]) => `${address} ${protocol} ${port}`))
}
