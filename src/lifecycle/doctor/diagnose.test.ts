import { describe, expect, test } from 'vitest'
import type { Look } from '../observe/observe-cluster.ts'
import { wellOf } from '../observe/observe-cluster.ts'
import {
  changeHost,
  failing,
  healthyLook,
  lost,
  nodeNamed,
  observation,
  probe,
  unready,
  withComponent,
  withHealth,
} from '../observe/testing/cluster-fixtures.ts'
import { diagnose } from './diagnose.ts'
import { keyOf } from './diagnosis.ts'

const well = healthyLook()
const codesOf = (look: Look): string[] => diagnose(look).map(keyOf)
/** What stands for itself, in order. */
const causesOf = (look: Look): string[] =>
  diagnose(look).flatMap((one) => (one.follows === undefined ? [keyOf(one)] : []))

test('of a cluster that is well nothing is said', () => {
  expect(diagnose(well)).toEqual([])
  expect(diagnose(healthyLook(1, 0))).toEqual([])
})

const notReady = (look: Look, ...hosts: readonly string[]): Look => ({
  ...look,
  nodes: look.nodes?.map((node) =>
    hosts.includes(node.metadata.name) ? nodeNamed(node.metadata.name, false) : node,
  ),
})
/** Its API server with it; its kubelet finds another one. */
const memberLost = (look: Look, host: string): Look => ({ ...unready(look, host), nodes: look.nodes })
const stopped = (look: Look, host: string, service: string): Look =>
  changeHost(look, host, (one) => ({
    ...one,
    services: one.services.map((unit) =>
      unit.name === service ? { ...unit, state: 'starting', restarts: 3 } : unit,
    ),
  }))

describe('each fault is named first, and what comes of it follows', () => {
  const scenes: readonly (readonly [name: string, look: Look, first: string])[] = [
    ['a component was killed', stopped(well, 'w1', 'kube-proxy'), 'HEALTH_NOT_RUNNING w1/kube-proxy'],
    [
      'etcd hangs',
      failing(
        memberLost(well, 'cp2'),
        'cp2',
        ['etcd', 'HEALTH_NO_ANSWER'],
        ['kube-apiserver', 'API_NOT_READY', 'remote'],
      ),
      'HEALTH_NO_ANSWER cp2/etcd',
    ],
    [
      'an API server hangs',
      failing(well, 'cp1', ['kube-apiserver', 'HEALTH_NO_ANSWER'], ['kube-scheduler', 'HEALTH_UNWELL']),
      'HEALTH_NO_ANSWER cp1/kube-apiserver',
    ],
    [
      'a controller manager hangs',
      failing(well, 'cp1', ['kube-controller-manager', 'HEALTH_NO_ANSWER']),
      'HEALTH_NO_ANSWER cp1/kube-controller-manager',
    ],
    [
      'a kubelet hangs',
      failing(
        failing(
          notReady(well, 'w1'),
          'w1',
          ['kubelet', 'HEALTH_NO_ANSWER'],
          ['kubelet', 'NODE_LEASE_OLD', 'remote'],
        ),
        'w2',
        ['kubelet', 'NEIGHBOURS_SILENT', 'remote'],
      ),
      'HEALTH_NO_ANSWER w1/kubelet',
    ],
    [
      'containerd hangs',
      failing(
        notReady(well, 'w2'),
        'w2',
        ['kubelet', 'HEALTH_UNWELL'],
        ['containerd', 'HEALTH_NO_ANSWER'],
        ['containerd', 'RUNTIME_NO_NETWORK'],
      ),
      'HEALTH_NO_ANSWER w2/containerd',
    ],
    [
      'the way to the API hangs',
      failing(
        notReady(well, 'w1'),
        'w1',
        ['apiserver-proxy', 'HEALTH_NO_ANSWER'],
        ['apiserver-proxy', 'API_NOT_REACHED', 'remote'],
        ['flanneld', 'HEALTH_UNWELL'],
      ),
      'HEALTH_NO_ANSWER w1/apiserver-proxy',
    ],
    [
      'flanneld hangs',
      failing(well, 'w1', ['flanneld', 'HEALTH_NO_ANSWER'], ['flanneld', 'OVERLAY_ROUTES']),
      'HEALTH_NO_ANSWER w1/flanneld',
    ],
    [
      'a program is gone',
      changeHost(stopped(well, 'w1', 'kubelet'), 'w1', (one) => ({
        ...one,
        programs: [{ service: 'kubelet', path: '/opt/kubelet' }],
      })),
      'SERVICE_DRIFT w1/kubelet',
    ],
    [
      'a file was changed',
      withComponent(well, 'w1', 'kubelet', {
        drift: [{ target: 'file', name: '/etc/hyperkube/kubelet/config.yaml', what: 'other content' }],
      }),
      'SERVICE_DRIFT w1/kubelet',
    ],
    [
      'a unit was disabled',
      changeHost(well, 'w1', (one) => ({
        ...one,
        services: one.services.map((unit) => ({ ...unit, enabled: unit.name !== 'kubelet' })),
      })),
      'SERVICE_DRIFT w1/kubelet',
    ],
    [
      'the CNI configuration is gone',
      failing(
        notReady(well, 'w1'),
        'w1',
        ['containerd', 'RUNTIME_NO_NETWORK'],
        ['flanneld', 'SANDBOX_NOT_JOINED', 'remote'],
      ),
      'RUNTIME_NO_NETWORK w1/containerd',
    ],
    [
      'flannel’s interface is gone',
      failing(
        well,
        'w1',
        ['flanneld', 'OVERLAY_INTERFACE'],
        ['flanneld', 'OVERLAY_ROUTES'],
        ['flanneld', 'SANDBOX_NOT_JOINED', 'remote'],
      ),
      'OVERLAY_INTERFACE w1/flanneld',
    ],
    [
      'rules were flushed',
      failing(well, 'w1', ['kube-proxy', 'SERVICE_RULES']),
      'SERVICE_RULES w1/kube-proxy',
    ],
    [
      'the subnet file is stale',
      withComponent(failing(well, 'w1', ['flanneld', 'OVERLAY_SUBNET']), 'w1', 'flanneld', {
        drift: [
          { target: 'derived-file', name: '/etc/cni/net.d/10-flannel.conflist', what: 'other content' },
        ],
      }),
      'OVERLAY_SUBNET w1/flanneld',
    ],
    [
      'the disk of etcd is full',
      stopped(
        failing(well, 'cp1', ['etcd', 'DISK_FULL', 'remote'], ['etcd', 'HEALTH_NO_ANSWER']),
        'cp1',
        'etcd',
      ),
      'DISK_FULL cp1/etcd',
    ],
    [
      'a disk is full, and its agent is silent',
      changeHost(well, 'w1', (one) => ({
        ...one,
        disks: [{ mounted: '/', used: 1 }],
        agent: { state: 'silent', reason: 'no answer within 8.0 s' },
      })),
      'DISK_FULL w1',
    ],
    [
      'the disk of etcd is slow',
      failing(well, 'cp1', ['etcd', 'DISK_SLOW', 'remote'], ['etcd', 'ETCD_NO_QUORUM', 'remote']),
      'DISK_SLOW cp1/etcd',
    ],
    [
      'data of etcd is gone',
      withComponent(stopped(memberLost(well, 'cp3'), 'cp3', 'etcd'), 'cp3', 'etcd', {
        state: 'held',
        code: 'ETCD_DATA_LOST',
        because: 'it was born, and its data is gone',
      }),
      'ETCD_DATA_LOST cp3/etcd',
    ],
    [
      'a worker lost its power',
      failing(lost(well, 'w1'), 'w2', ['kubelet', 'NEIGHBOURS_SILENT', 'remote']),
      'HOST_AWAY w1',
    ],
    [
      'a control plane lost its power',
      failing(lost(well, 'cp1'), 'cp2', ['kubelet', 'NEIGHBOURS_SILENT', 'remote']),
      'HOST_AWAY cp1',
    ],
    [
      'a worker is cut off',
      failing(
        notReady(well, 'w1'),
        'w1',
        ['apiserver-proxy', 'API_NOT_REACHED', 'remote'],
        ['kubelet', 'NODE_LEASE_OLD', 'remote'],
        ['flanneld', 'HEALTH_UNWELL'],
      ),
      'HOST_CUT_OFF w1',
    ],
    [
      'a control plane is cut off',
      failing(
        unready(well, 'cp1'),
        'cp1',
        ['etcd', 'ETCD_NO_QUORUM', 'remote'],
        ['kube-apiserver', 'API_NOT_READY', 'remote'],
        ['apiserver-proxy', 'API_NOT_REACHED', 'remote'],
        ['kube-scheduler', 'HEALTH_NOT_RUNNING'],
      ),
      'HOST_CUT_OFF cp1',
    ],
    [
      'a control plane is cut off from etcd alone',
      failing(
        memberLost(well, 'cp1'),
        'cp1',
        ['etcd', 'HEALTH_NO_ANSWER', 'remote'],
        ['kube-apiserver', 'HEALTH_UNWELL'],
      ),
      'ETCD_NO_QUORUM cp1/etcd',
    ],
    [
      'a kubelet’s certificate has expired',
      failing(
        notReady(well, 'w1'),
        'w1',
        ['kubelet', 'CERTIFICATE_EXPIRED', 'remote'],
        ['kubelet', 'NODE_LEASE_OLD', 'remote'],
        ['kubelet', 'NEIGHBOURS_SILENT', 'remote'],
      ),
      'CERTIFICATE_EXPIRED w1/kubelet',
    ],
    [
      'an agent hangs',
      changeHost(well, 'w1', (one) => ({
        ...one,
        agent: { state: 'silent', reason: 'no answer within 8.0 s' },
      })),
      'AGENT_SILENT w1/hyperkube-agent',
    ],
  ]
  test.each(scenes)('%s', (_name, look, first) => {
    expect(causesOf(look)).toEqual([first])
    const [cause, ...rest] = diagnose(look)
    expect(cause && keyOf(cause)).toBe(first)
    for (const one of rest) expect(one.follows).toBe(first)
  })
})

test('when the API is down that comes first, and then each server', () => {
  const servers = ['cp1', 'cp2', 'cp3']
  const look = servers.reduce(
    (before, host) =>
      failing(
        before,
        host,
        ['kube-apiserver', 'HEALTH_NO_ANSWER'],
        ['kube-scheduler', 'HEALTH_UNWELL'],
        ['apiserver-proxy', 'API_NOT_REACHED', 'remote'],
      ),
    well,
  )
  const down: Look = {
    ...look,
    nodes: undefined,
    api: new Map(servers.map((host) => [host, wellOf('connect ECONNREFUSED')])),
  }
  expect(causesOf(down)).toEqual([
    'API_DOWN kube-apiserver',
    ...servers.map((host) => `HEALTH_NO_ANSWER ${host}/kube-apiserver`),
  ])
})

test('when the quorum is lost that comes first, then who is missing, and the API follows', () => {
  const look = failing(
    lost(well, 'cp2', 'cp3'),
    'cp1',
    ['etcd', 'ETCD_NO_QUORUM', 'remote'],
    ['kube-apiserver', 'API_NOT_READY', 'remote'],
  )
  expect(causesOf(look)).toEqual(['ETCD_QUORUM_LOST etcd', 'HOST_AWAY cp2', 'HOST_AWAY cp3'])
  expect(diagnose(look).find(({ code }) => code === 'API_DOWN')?.follows).toBe('ETCD_QUORUM_LOST etcd')
})

test('where one member is all of etcd, what is wrong with it comes first', () => {
  const one = healthyLook(1, 1)
  const look = failing(unready(one, 'cp1'), 'cp1', ['etcd', 'HEALTH_NO_ANSWER'])
  expect(causesOf(look)).toEqual(['HEALTH_NO_ANSWER cp1/etcd'])
  expect(codesOf(look)).toContain('ETCD_QUORUM_LOST etcd')
})

test('members that an operator cannot hear are no loss while one of them says that it hears the others', () => {
  const silent: Look = { ...well, etcd: { state: 'silent', reason: 'no answer within 3000 ms' } }
  const heard = withHealth(silent, 'cp1', (health) => ({
    ...health,
    probes: [...health.probes, probe('etcd', 'readyz', { scope: 'remote' })],
  }))
  expect(codesOf(silent)).toContain('ETCD_QUORUM_LOST etcd')
  expect(codesOf(heard)).toEqual([])
})

test('a host that misses the API once is not cut off, unless it misses its neighbours too', () => {
  const once = (...codes: readonly string[]): Look =>
    withHealth(well, 'cp1', (health) => ({
      ...health,
      probes: [
        ...health.probes,
        ...codes.map((code) =>
          probe('apiserver-proxy', code.toLowerCase(), { scope: 'remote', state: 'shaky', code }),
        ),
      ],
    }))
  expect(codesOf(once('API_NOT_REACHED'))).not.toContain('HOST_CUT_OFF cp1')
  expect(codesOf(once('API_NOT_REACHED', 'NEIGHBOURS_SILENT'))).toContain('HOST_CUT_OFF cp1')
})

test('when nobody answers, that is all that is known', () => {
  const nobody = lost(well, ...well.places.map(({ host }) => host))
  const look: Look = { ...nobody, etcd: { state: 'silent', reason: 'nobody to ask' }, nodes: undefined }
  expect(new Set(diagnose(look).map(({ code }) => code))).toEqual(new Set(['HOST_AWAY']))
})

test('what may be a mistake, or is due one day, is a warning behind all errors', () => {
  const paused = withHealth(
    failing(well, 'w1', ['kubelet', 'CERTIFICATE_DUE', 'remote'], ['kube-proxy', 'HEALTH_NO_ANSWER']),
    'cp1',
    (health) => ({
      ...health,
      paused: { until: '2026-11-15T13:00:00.000Z', by: 'ana' },
      probes: [
        ...health.probes,
        probe('etcd', 'disk', { scope: 'remote', state: 'shaky', code: 'DISK_SLOW' }),
      ],
    }),
  )
  expect(diagnose(paused).map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    'error HEALTH_NO_ANSWER',
    'warning DISK_SLOW',
    'warning CERTIFICATE_DUE',
    'warning HEAL_PAUSED',
  ])
})

test('what the agent did and will do is told with the finding', () => {
  const look = withHealth(
    withComponent(failing(well, 'w1', ['kubelet', 'HEALTH_NO_ANSWER']), 'w1', 'kubelet', {
      state: 'given-up',
      code: 'HEAL_GAVE_UP',
      because: 'eight restarts did not help',
    }),
    'w1',
    (health) => ({
      ...health,
      actions: [
        {
          at: '2026-11-15T11:59:00.000Z',
          component: 'kubelet',
          action: 'restart',
          because: 'it did not answer',
          outcome: 'done',
          details: [],
        },
      ],
    }),
  )
  expect(diagnose(look)).toMatchObject([
    {
      code: 'HEALTH_NO_ANSWER',
      healing: {
        did: '2026-11-15T11:59:00.000Z restarted it: it did not answer',
        next: 'a person is needed: eight restarts did not help',
      },
      needsPerson: true,
    },
  ])
})

test('with an agent that is silent systemd is believed, and last lines are shown', () => {
  const look = changeHost(stopped(well, 'w1', 'kubelet'), 'w1', (one) => ({
    ...one,
    agent: { state: 'silent', reason: 'no answer' },
    logs: new Map([['kubelet', ['failed to load config']]]),
  }))
  expect(causesOf(look)).toEqual(['HEALTH_NOT_RUNNING w1/kubelet', 'AGENT_SILENT w1/hyperkube-agent'])
  expect(diagnose(look)[0]?.evidence).toEqual([
    'systemd: kubelet is starting, started again 3 times',
    'failed to load config',
  ])
})

test('an alarm of etcd is told as its members tell it', () => {
  const observed = {
    ...observation(well.places, []),
    alarms: [{ memberId: 'cp1', alarm: 'NOSPACE' as const }],
  }
  expect(codesOf({ ...well, etcd: { state: 'seen', observed } })).toEqual(['ETCD_ALARM_SPACE cp1/etcd'])
})
