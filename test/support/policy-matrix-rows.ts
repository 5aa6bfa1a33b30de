import { dualStackNetworks } from './dual-stack.ts'

/** Where a connection to the guarded pod comes from. */
export const sources = ['same node', 'other node', 'other namespace', 'outside'] as const
export type Source = (typeof sources)[number]

/** Ports of the guarded pod, by name. */
export const ports = { web: 8080, admin: 9090 } as const
export type Port = keyof typeof ports

export const families = ['IPv4', 'IPv6'] as const
export type Family = (typeof families)[number]

/** One configuration of policies, and the connections that it allows. */
export interface MatrixRow {
  readonly name: string
  readonly policies: readonly object[]
  allows(source: Source, port: Port, family: Family): boolean
}

/** Networks of the machine that runs the lab, which is outside of the cluster. */
export interface OutsideNetworks {
  readonly ipv4: string
  readonly ipv6: string
}

const target = { matchLabels: { app: 'guarded' } }
const clients = { matchLabels: { app: 'probe' } }
const otherNamespace = { matchLabels: { 'kubernetes.io/metadata.name': 'other' } }
const all = [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }]
const isPodOfDefault = (source: Source): boolean => source === 'same node' || source === 'other node'

function ingress(...rules: readonly object[]): object {
  return { podSelector: target, policyTypes: ['Ingress'], ingress: rules }
}

function egress(...rules: readonly object[]): object {
  return { podSelector: clients, policyTypes: ['Egress'], egress: rules }
}

/** Returns twenty rows. `outside` is where connections from outside of the cluster come from. */
export function buildMatrixRows(outside: OutsideNetworks): readonly MatrixRow[] {
  const outsideBlocks = [{ ipBlock: { cidr: outside.ipv4 } }, { ipBlock: { cidr: outside.ipv6 } }]
  return [
    { name: 'no policy', policies: [], allows: () => true },
    { name: 'deny all ingress', policies: [ingress()], allows: () => false },
    { name: 'allow all ingress', policies: [ingress({})], allows: () => true },
    {
      name: 'from pods by label',
      policies: [ingress({ from: [{ podSelector: clients }] })],
      allows: isPodOfDefault,
    },
    {
      name: 'from pods by label that no pod has',
      policies: [ingress({ from: [{ podSelector: { matchLabels: { app: 'nobody' } } }] })],
      allows: () => false,
    },
    {
      name: 'from pods by expression',
      policies: [
        ingress({
          from: [
            { podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['other'] }] } },
          ],
        }),
      ],
      allows: isPodOfDefault,
    },
    {
      name: 'from a namespace',
      policies: [ingress({ from: [{ namespaceSelector: otherNamespace }] })],
      allows: (source) => source === 'other namespace',
    },
    {
      name: 'from all namespaces',
      policies: [ingress({ from: [{ namespaceSelector: {} }] })],
      allows: (source) => source !== 'outside',
    },
    {
      name: 'from pods by label of a namespace where none has the label',
      policies: [ingress({ from: [{ namespaceSelector: otherNamespace, podSelector: clients }] })],
      allows: () => false,
    },
    {
      name: 'from a namespace or from pods by label',
      policies: [ingress({ from: [{ namespaceSelector: otherNamespace }, { podSelector: clients }] })],
      allows: (source) => source !== 'outside',
    },
    {
      name: 'one port, by number',
      policies: [ingress({ ports: [{ port: ports.web }] })],
      allows: (_, port) => port === 'web',
    },
    {
      name: 'one port, by name',
      policies: [ingress({ ports: [{ port: 'admin' }] })],
      allows: (_, port) => port === 'admin',
    },
    {
      name: 'a range of ports',
      policies: [ingress({ ports: [{ port: 9000, endPort: 9999 }] })],
      allows: (_, port) => port === 'admin',
    },
    {
      name: 'a port of another protocol',
      policies: [ingress({ ports: [{ port: ports.web, protocol: 'UDP' }] })],
      allows: () => false,
    },
    {
      name: 'from addresses outside',
      policies: [ingress({ from: outsideBlocks })],
      allows: (source) => source === 'outside',
    },
    {
      name: 'from all addresses except the pod networks',
      policies: [
        ingress({
          from: [
            { ipBlock: { cidr: '0.0.0.0/0', except: [dualStackNetworks.pods[0]] } },
            { ipBlock: { cidr: '::/0', except: [dualStackNetworks.pods[1]] } },
          ],
        }),
      ],
      allows: (source) => source === 'outside',
    },
    {
      name: 'from all IPv4 addresses',
      policies: [ingress({ from: all.slice(0, 1) })],
      allows: (_source, _port, family) => family === 'IPv4',
    },
    {
      name: 'two policies: pods by label to one port, a namespace to the other',
      policies: [
        ingress({ from: [{ podSelector: clients }], ports: [{ port: ports.web }] }),
        ingress({ from: [{ namespaceSelector: otherNamespace }], ports: [{ port: ports.admin }] }),
      ],
      allows: (source, port) => (port === 'web' ? isPodOfDefault(source) : source === 'other namespace'),
    },
    {
      name: 'deny all egress of the clients',
      policies: [egress()],
      allows: (source) => !isPodOfDefault(source),
    },
    {
      name: 'egress of the clients to one port of the pod',
      policies: [egress({ to: [{ podSelector: target }], ports: [{ port: ports.admin }] })],
      allows: (source, port) => !isPodOfDefault(source) || port === 'admin',
    },
  ]
}
