import type { LogSearch, ViewDocuments, ViewRequest } from '../../../src/ui/views.ts'

const healths = ['unhealthy', 'unknown', 'degraded', 'healthy'] as const
const services = [
  'hyperkube-agent',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'hyperkube-controller-manager',
  'containerd',
  'apiserver-proxy',
  'kubelet',
  'flanneld',
  'kube-proxy',
  'kube-router',
]
const day = 86_400_000
const start = Date.parse('2026-11-01T00:00:00Z')

function addDays(days: number): string {
  return new Date(start + days * day).toISOString()
}

/** A fleet in which every tenth cluster has a problem. */
export function buildFleet(count: number): ViewDocuments['fleet'] {
  const items = Array.from({ length: count }, (_, index): ViewDocuments['fleet']['items'][number] => {
    const health = index < count / 10 ? (healths[index % 3] ?? 'degraded') : 'healthy'
    const isBad = health !== 'healthy'
    return {
      name: `shop-${String(index).padStart(3, '0')}`,
      labels: { name: `shop-${index}`, region: index % 2 === 0 ? 'eu' : 'us', stage: 'production' },
      health,
      ...(health === 'unknown'
        ? {}
        : {
            summary: {
              kubernetes: '1.37.1',
              hosts: { healthy: isBad ? 4 : 5, total: 5 },
              nodes: { healthy: isBad ? 4 : 5, total: 5 },
              api: { healthy: 3, total: 3 },
              etcd: { healthy: isBad ? 2 : 3, total: 3, quorum: health !== 'unhealthy' },
              expiry: { host: 'cp1', component: 'kubelet', until: addDays(200 + index) },
            },
          }),
      problems: isBad ? ['w1 is unreachable: connect ETIMEDOUT 10.0.0.4:22'] : [],
    }
  })
  const rank = (health: (typeof healths)[number]): number => healths.indexOf(health)
  return { fleet: 'retail', items: items.toSorted((a, b) => rank(a.health) - rank(b.health)) }
}

/** A cluster in which etcd of the first host has failed, and the last host is unreachable. */
export function buildStatus(cluster: string, count: number): ViewDocuments['status'] {
  const hosts = Array.from({ length: count }, (_, index): ViewDocuments['status']['hosts'][number] => {
    const isControlPlane = index < 3
    const isLost = index === count - 1
    const own = isControlPlane ? services : [services[0] ?? '', ...services.slice(6)]
    return {
      host: isControlPlane ? `cp${index + 1}` : `w${index - 2}`,
      ...(isLost ? { unreachable: 'connect ETIMEDOUT 10.0.3.231:22' } : { version: '0.1.0' }),
      services: isLost
        ? []
        : own.map((name) => ({
            name,
            state: index === 0 && name === 'etcd' ? 'failed' : 'active',
            restarts: 0,
          })),
      ...(isControlPlane
        ? { etcd: { healthy: index !== 0, reason: 'no response' }, api: { healthy: true } }
        : {}),
      node: isLost ? { healthy: false, reason: 'kubelet stopped posting node status' } : { healthy: true },
    }
  })
  return {
    cluster,
    hosts,
    summary: {
      kubernetes: '1.37.1',
      hosts: { healthy: count - 1, total: count },
      nodes: { healthy: count - 1, total: count },
      api: { healthy: 3, total: 3 },
      etcd: { healthy: 2, total: 3, quorum: true, leader: 'cp2' },
      expiry: { host: 'cp1', component: 'kubelet', until: addDays(240) },
      addons: [{ name: 'coredns', ready: true }],
      actions: [
        {
          ...{ host: 'cp1', at: addDays(17), component: 'etcd', action: 'restart', outcome: 'failed' },
          because: 'etcd exited with code 1: member data is damaged',
        },
      ],
    },
  }
}

export function buildDoctor(cluster: string): ViewDocuments['doctor'] {
  const shared = { severity: 'error' as const, evidence: ['exit status 1: walpb: crc mismatch'] }
  return {
    cluster,
    at: addDays(17),
    healthy: false,
    findings: [
      {
        ...shared,
        ...{ code: 'ETCD_DATA_DAMAGED', what: 'its data is damaged', host: 'cp1', component: 'etcd' },
        since: addDays(16.5),
        command: 'hyperkube etcd rejoin cp1',
        healing: { lastAction: 'restart at 12:00', nextAction: 'nothing: data would be lost' },
        needsOperator: true,
        meaning: 'etcd cannot read its write-ahead log. The other members have all data.',
      },
      {
        ...shared,
        ...{ code: 'HEALTH_NOT_RUNNING', what: 'is not running', host: 'cp1', component: 'etcd' },
        command: 'hyperkube logs etcd --limit cp1',
        needsOperator: false,
        causedBy: 'ETCD_DATA_DAMAGED cp1/etcd',
        meaning: '',
      },
      {
        severity: 'warning',
        ...{
          code: 'CERTIFICATE_DUE',
          what: 'a certificate must be renewed',
          host: 'w1',
          component: 'kubelet',
        },
        evidence: [],
        command: 'hyperkube certs renew w1',
        needsOperator: false,
        meaning: 'Agents renew certificates by themselves.',
      },
    ],
  }
}

export function buildPlan(cluster: string): ViewDocuments['plan'] {
  const op = { component: 'etcd', stage: 'etcd', because: [] as string[] } as const
  return {
    cluster,
    digest: 'd1',
    findings: [{ code: 'HOST_SWAP', severity: 'warning', message: 'swap is on', host: 'w1' }],
    hosts: ['cp1', 'cp2'].map((host) => ({
      host,
      roles: ['control-plane'],
      ops: [
        { ...op, action: 'change', target: 'file', name: '/etc/hyperkube/etcd/etcd.yml', because: [] },
        {
          ...op,
          ...{ action: 'restart', target: 'service', name: 'etcd.service' },
          because: ['/etc/hyperkube/etcd/etcd.yml'],
        },
      ],
      diff: '/etc/hyperkube/etcd/etcd.yml (changed)\n  @@ -1 +1 @@\n   name: cp1\n  -quota: 2\n  +quota: 8\n',
    })),
    removedHosts: ['w9'],
    steps: [{ title: 'etcd on cp1', gates: ['etcd has all members'] }],
    objects: ['change Node w1: labels'],
    addons: '',
  }
}

function buildEtcd(cluster: string): ViewDocuments['etcd'] {
  return {
    cluster,
    quorum: true,
    members: ['cp1', 'cp2', 'cp3'].map((name, index) => ({
      ...{ name, role: index === 1 ? 'leader' : 'follower', ready: index !== 0 },
      ...(index === 0
        ? { reason: 'no response' }
        : { version: '3.7.4', size: 7.9e9, sizeInUse: 4e8, quota: 8e9 }),
    })),
    findings: [],
  }
}

function buildCertificates(cluster: string): ViewDocuments['certificates'] {
  return {
    cluster,
    certificates: ['good', 'due', 'expired'].map((_, index) => ({
      ...{
        host: `cp${index + 1}`,
        component: 'kubelet',
        file: '/etc/hyperkube/kubelet/client.crt',
        ca: 'kubernetes',
      },
      state: (['good', 'due', 'expired'] as const)[index] ?? 'good',
      ...{ from: addDays(-300 - index * 40), until: addDays(65 - index * 40), due: addDays(20 - index * 40) },
    })),
    cas: [{ ca: 'kubernetes', use: 'current', from: addDays(-300), until: addDays(3350) }],
    unreachable: [{ host: 'w997', reason: 'connect ETIMEDOUT' }],
  }
}

/** A run that has not ended. Its last event is recent by the clock of the tests. */
function buildRun(run: string): ViewDocuments['run'] {
  const at = (seconds: number): string =>
    new Date(Date.parse('2026-11-18T11:58:00Z') + seconds * 1000).toISOString()
  return {
    ...{ run, command: 'up', started: at(0), lastEvent: at(115) },
    hosts: ['cp1', 'cp2', 'w1'].map((host, index) => ({
      host,
      steps: [
        { title: 'install etcd', started: at(5), ended: at(40 + index), outcome: 'done' as const },
        {
          title: 'start kube-apiserver',
          started: at(50 + index),
          ended: at(index === 2 ? 115 : 80),
          outcome:
            index === 2 ? ('not ended' as const) : index === 1 ? ('failed' as const) : ('done' as const),
        },
      ],
    })),
    waits: [{ host: 'w1', for: 'the node to be ready', since: at(100) }],
    failures: [
      {
        ...{ host: 'cp2', text: 'GATE_TIMEOUT: kube-apiserver did not respond' },
        hint: 'hyperkube logs kube-apiserver --limit cp2',
      },
    ],
  }
}

function buildLogs({ component, text }: LogSearch): ViewDocuments['logs'] {
  const names = component === undefined ? ['etcd', 'kubelet'] : [component]
  return {
    components: services,
    lines: names.map((name, index) => ({
      ...{
        time: addDays(17 + index),
        host: `cp${index + 1}`,
        component: name,
        priority: index === 0 ? 3 : 6,
      },
      message: `{"level":"warn","msg":"apply request took too long: ${text ?? 'a long line '.repeat(20)}"}`,
    })),
    isCut: true,
    problems: 'error SSH_LOST w9: connect ETIMEDOUT',
  }
}

/** Reads views of a fleet of 200 clusters. Each has 1,000 hosts, except the cluster `small`. */
export async function readFixture(request: ViewRequest): Promise<unknown> {
  switch (request.view) {
    case 'overview':
      return {
        version: '0.1.0',
        fleet: 'retail',
        clusters: buildFleet(200).items.map(({ name }) => ({ name, file: `clusters/${name}/cluster.yml` })),
      }
    case 'fleet':
      return buildFleet(200)
    case 'status':
      return buildStatus(request.cluster, request.cluster === 'small' ? 8 : 1000)
    case 'doctor':
      return buildDoctor(request.cluster)
    case 'plan':
      return buildPlan(request.cluster)
    case 'etcd':
      return buildEtcd(request.cluster)
    case 'certificates':
      return buildCertificates(request.cluster)
    case 'run':
      return buildRun(request.run)
    case 'logs':
      return buildLogs(request.search)
    default:
      return {
        items: [
          {
            name: '2026-11-17T06-29-17.472Z-up',
            command: 'up',
            started: addDays(16),
            seconds: 92,
            outcome: 'done',
          },
          {
            name: '2026-11-16T06-29-17.472Z-up',
            command: 'up',
            started: addDays(15),
            seconds: 12,
            outcome: 'failed',
          },
        ],
      }
  }
}
