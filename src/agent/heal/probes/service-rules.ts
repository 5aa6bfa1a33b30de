import { firstFew } from '../../../kit/truncate-list.ts'
import type { Command } from '../../host/command.ts'
import { type Ask, type Checks, failed, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'
import type { ServicePort, Services } from './service-reader.ts'

/** So many are asked about once more before anybody is accused: what was said of the others may be as old. */
const sample = 3

/** Whether the packet filter knows the services. kube-proxy writes what changes; what others took away, once an hour. */
export function askServiceRules(
  { command, clock }: Pick<ProbeEdges, 'command' | 'clock'>,
  services: Services,
): Ask<'service-rules'> {
  return async ({ mode, kubeconfig }, signal) => {
    const ports = await services.ports(kubeconfig, clock.now(), signal)
    const rules = await readers[mode](command, signal)
    const missing = ports.filter(({ rule }) => !rules.has(rule))
    const confirmed: ServicePort[] = []
    for (const port of missing.slice(0, sample)) {
      const now = await services.portsNow(kubeconfig, port, clock.now(), signal)
      if (now.some(({ rule }) => rule === port.rule)) confirmed.push(port)
    }
    if (confirmed.length === 0) return well
    if (rules.size === 0) return failed('SERVICE_RULES', 'the packet filter knows no service at all')
    const names = confirmed.map(({ namespace, service, rule }) => `${namespace}/${service} (${rule})`)
    return failed('SERVICE_RULES', `the packet filter does not know ${firstFew(names, 3)}`)
  }
}

type ReadRules = (command: Command, signal: AbortSignal) => Promise<ReadonlySet<string>>

/** As kube-proxy writes them. Each is asked with one program, which is what this probe costs. */
const readers: Readonly<Record<Checks['service-rules']['mode'], ReadRules>> = {
  nftables: async (command, signal) => {
    const argv = ['nft', 'list', 'map', 'ip', 'kube-proxy', 'service-ips'] as const
    const { code, stdout, stderr } = await command(argv, { codes: [0, 1], signal })
    if (code === 0) return nftRules(stdout)
    // Without its table there are no rules; whatever else is wrong says nothing of them.
    if (stderr.includes('No such file or directory')) return new Set()
    throw new Error(stderr)
  },
  iptables: async (command, signal) =>
    iptablesRules((await command(['iptables-save', '-t', 'nat'], { signal })).stdout),
}

/** From elements of a map: 10.96.0.10 . udp . 53 : goto service-ULMVA6XW-kube-system/kube-dns/udp/dns. */
export function nftRules(text: string): ReadonlySet<string> {
  const elements = text.matchAll(/(\d+\.\d+\.\d+\.\d+) \. (\w+) \. (\d+)/g)
  return new Set([...elements].map(([, address, protocol, port]) => `${address} ${protocol} ${port}`))
}

/** From rules such as -A KUBE-SERVICES -d 10.96.0.10/32 -p udp … --dport 53 -j KUBE-SVC-TCOU7JCQXEZGVUNU. */
export function iptablesRules(text: string): ReadonlySet<string> {
  const rules = text.matchAll(/^-A KUBE-SERVICES -d ([\d.]+)\/32 -p (\w+) .*--dport (\d+) /gm)
  return new Set([...rules].map(([, address, protocol, port]) => `${address} ${protocol} ${port}`))
}
