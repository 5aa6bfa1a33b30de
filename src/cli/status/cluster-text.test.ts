import { expect, test } from 'vitest'
import { clusterLine, clusterLines } from './cluster-text.ts'
import { frameOf } from './watch.ts'

const plain = (_colour: string, text: string): string => text

const status = {
  kubernetes: '1.37',
  hosts: { well: 4, all: 5 },
  nodes: { well: 4, all: 5 },
  api: { well: 3, all: 3 },
  etcd: { well: 3, all: 3, quorum: true, leader: 'cp2', size: 24_100_000, alarms: [] },
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

test('the whole in a line above hosts, and below them what is worth one', () => {
  expect(`${clusterLine('first', status, plain)}\n${clusterLines(status)}`).toMatchInlineSnapshot(`
    "first: Kubernetes 1.37; 4 of 5 hosts answer, 4 of 5 nodes ready, 3 of 3 API servers ready, 3 of 3 members of etcd well (cp2 leads, 24.1 MB)

    healing is paused on cp1 until 2026-11-15T13:00:00.000Z, by ana
    certificates: the first to expire is /etc/hyperkube/kubelet/client.crt of w1, on 2027-02-01
    addons: coredns is ready
    addon traefik is not ready: Deployment kube-system/traefik: 0 of 1
    what agents did lately:
      2026-11-15T11:59:30Z w1/kubelet: restarted it: it did not answer 3 times
    "
  `)
})

test('what does not fit on the screen is counted, and no line is held for wider than it', () => {
  const text = Array.from({ length: 30 }, (_, at) => `${at} ${'x'.repeat(100)}\n`).join('')
  const { lines, widths } = frameOf(text, { columns: 80, rows: 24 })
  expect(lines).toHaveLength(23)
  expect(lines.at(-1)).toBe('… 8 more lines')
  expect(Math.max(...widths)).toBe(80)
})
