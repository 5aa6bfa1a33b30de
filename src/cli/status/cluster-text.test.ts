import { expect, test } from 'vitest'
import { formatClusterLine, formatClusterDetails } from './cluster-text.ts'
import { buildFrame } from './watch.ts'

const plain = (_colour: string, text: string): string => text

const status = {
  kubernetes: '1.37',
  hosts: { healthy: 4, total: 5 },
  nodes: { healthy: 4, total: 5 },
  api: { healthy: 3, total: 3 },
  etcd: { healthy: 3, total: 3, quorum: true, leader: 'cp2', size: 24_100_000, alarms: [] },
  expiry: {
    host: 'w1',
    component: 'kubelet',
    file: '/etc/hyperkube/kubelet/client.crt',
    until: '2027-02-01T00:00:00.000Z',
  },
  addons: [
    { name: 'coredns', ready: true },
    { name: 'traefik', ready: false, reason: 'Deployment kube-system/traefik: 0 of 1' },
  ],
  actions: [
    {
      host: 'w1',
      at: '2026-11-15T11:59:30.000Z',
      component: 'kubelet',
      action: 'restart' as const,
      because: 'it did not answer 3 times',
      outcome: 'done' as const,
      details: [],
    },
  ],
  paused: [{ host: 'cp1', until: '2026-11-15T13:00:00.000Z', by: 'ana' }],
}

test('the cluster is one line above the hosts, and details follow below', () => {
  expect(`${formatClusterLine('first', status, plain)}\n${formatClusterDetails(status)}`)
    .toMatchInlineSnapshot(`
    "first: Kubernetes 1.37; 4 of 5 hosts reachable, 4 of 5 nodes ready, 3 of 3 API servers ready, 3 of 3 etcd members healthy (leader cp2, 24.1 MB)

    healing is paused on cp1 until 2026-11-15T13:00:00.000Z, by ana
    certificates: the first to expire is /etc/hyperkube/kubelet/client.crt of w1, on 2027-02-01
    addons: coredns is ready
    addon traefik is not ready: Deployment kube-system/traefik: 0 of 1
    recent actions of agents:
      2026-11-15T11:59:30Z w1/kubelet: restarted the component: it did not answer 3 times
    "
  `)
})

test('a held upgrade is shown with the two commands that end it', () => {
  const held = {
    ...status,
    kubernetes: '1.36.4',
    heldUpgrade: { to: '1.37.1', since: '2026-11-15T09:30:00.000Z' },
  }
  expect(formatClusterLine('first', held, plain)).toContain(
    'first: Kubernetes 1.36.4 (upgrade to 1.37.1 held); ',
  )
  expect(formatClusterDetails(held)).toContain(
    `the upgrade to 1.37.1 is held since 2026-11-15 09:30 UTC: API servers and controllers of 1.37.1 emulate 1.36.4
  → to finish it: hyperkube upgrade confirm
  → to return to 1.36.4: hyperkube upgrade rollback
`,
  )
})

test('without a reachable control plane, the cluster is unknown and not without quorum', () => {
  const unknown = {
    ...status,
    hosts: { healthy: 0, total: 5 },
    controlPlanesUnreachable: true as const,
    etcd: { healthy: 0, total: 3, quorum: false, alarms: [] },
  }
  expect(formatClusterLine('first', unknown, plain)).toBe(
    'first: Kubernetes 1.37; 0 of 5 hosts reachable, nodes, API servers and etcd unknown: no control plane is reachable\n',
  )
})

test('nodes under pressure are counted beside the ready nodes', () => {
  const nodeConditions = [{ condition: 'disk pressure', nodes: ['cp1', 'w1'] }]
  expect(formatClusterLine('first', { ...status, nodeConditions }, plain)).toContain(
    '4 of 5 nodes ready, 2 with disk pressure, ',
  )
})

test('lines beyond the screen height are counted, and long lines are truncated', () => {
  const text = Array.from({ length: 30 }, (_, at) => `${at} ${'x'.repeat(100)}\n`).join('')
  const { lines, widths } = buildFrame(text, { columns: 80, rows: 24 })
  expect(lines).toHaveLength(23)
  expect(lines.at(-1)).toBe('… 8 more lines')
  expect(Math.max(...widths)).toBe(80)
})

test('an adoption without a commit is shown with the two commands that end it', () => {
  const adoption = { from: 'rke1' as const, observed: '2026-11-19T09:30:00.000Z' }
  expect(formatClusterDetails({ ...status, adoption })).toContain(
    `adopted from RKE1 on 2026-11-19, not committed: hosts can still return
  → to commit, after which no host can return: hyperkube adopt commit
  → to return all hosts to RKE1: hyperkube adopt rollback
`,
  )
})
