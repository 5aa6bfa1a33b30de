import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ProbeCheck } from '../../../contract/probe.ts'
import type { CommandResult } from '../../../kit/command.ts'
import type { ReceivedRequest, TestResponse } from '../../../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../../../kit/testing/test-ca.ts'
import { findMissingHooks, listFilteredAddresses } from './policy-rules.ts'
import type { ProbeResult } from './probe-runner.ts'
import { createProber, type Prober } from './prober.ts'
import {
  createFakeProbeDeps,
  type FakeProbeDeps,
  testComponent,
  testProbe,
} from './testing/fake-probe-deps.ts'
import { type ProbeApiServer, startProbeApiServer } from './testing/probe-api-server.ts'

/** Rules as kube-router writes them, in the format of iptables-save. */
const hooks = `:INPUT ACCEPT [0:0]
-A INPUT -m comment --comment "kube-router netpol - 4IA2OSFRMVNDXBVV" -j KUBE-ROUTER-INPUT
-A FORWARD -m comment --comment "kube-router netpol - TEMCG2JMHZYE7H7T" -j KUBE-ROUTER-FORWARD
-A OUTPUT -m comment --comment "kube-router netpol - VEAAIY32XVBHCSCY" -j KUBE-ROUTER-OUTPUT
`
const rule = (address: string, prefix = 32): string =>
  `-A KUBE-ROUTER-FORWARD -d ${address}/${prefix} -m comment --comment "rule to jump traffic destined to POD name:web namespace: default to chain KUBE-POD-FW-ABC" -j KUBE-POD-FW-ABC\n`

interface TestPod {
  readonly name: string
  readonly spec?: object
  readonly status?: object
}

let ca: TestCa
let api: ProbeApiServer
let pods: readonly TestPod[]
let refused: string | undefined
let filter: Partial<CommandResult>
let ipv6Filter: Partial<CommandResult>
let deps: FakeProbeDeps
let probes: Prober

beforeAll(async () => {
  ca = await createTestCa()
  api = await startProbeApiServer(ca, respond)
})
afterAll(async () => api[Symbol.asyncDispose]())
beforeEach(() => {
  probes?.[Symbol.dispose]()
  pods = [{ name: 'web' }]
  refused = undefined
  filter = { stdout: hooks + rule('10.244.1.5') }
  ipv6Filter = { stdout: hooks + rule('fd00:10:244:1::5', 128) }
  deps = createFakeProbeDeps(([program]) => (program === 'ip6tables-save' ? ipv6Filter : filter))
  deps.texts.set('/kubeconfig', api.kubeconfig)
  probes = createProber(deps)
})

function respond({ path }: ReceivedRequest): TestResponse {
  if (refused !== undefined && path.startsWith(refused))
    return { status: 403, json: { kind: 'Status', reason: 'Forbidden', message: 'may not list', code: 403 } }
  return { json: { items: path.startsWith('/api/v1/pods') ? pods.map(buildPod) : [] } }
}

function buildPod({ name, spec = {}, status = {} }: TestPod) {
  return {
    metadata: { name, namespace: 'default' },
    spec,
    status: {
      phase: 'Running',
      podIPs: [{ ip: '10.244.1.5' }],
      startTime: '2026-12-01T00:00:00Z',
      ...status,
    },
  }
}

async function runCheck(check: ProbeCheck): Promise<ProbeResult> {
  return probes.run(testProbe(check), testComponent('kube-router'), new AbortController().signal)
}
const runRules = async () => runCheck({ kind: 'policy-rules', node: 'w1', kubeconfig: '/kubeconfig' })
const runAccess = async () => runCheck({ kind: 'policy-access', kubeconfig: '/kubeconfig' })

test('a node whose pods all have rules is healthy', async () => {
  expect(await runRules()).toEqual({ state: 'healthy' })
})

test('without the rules that lead to kube-router, the node is unhealthy', async () => {
  filter = { stdout: hooks.replace(/^-A FORWARD.*\n/m, '') + rule('10.244.1.5') }
  expect(await runRules()).toEqual({
    state: 'unhealthy',
    code: 'POLICY_RULES',
    message: 'kube-router does not filter FORWARD',
  })
  filter = { stdout: "# Table `filter' is incompatible, use 'nft' tool.\n" }
  expect(await runRules()).toMatchObject({ message: 'kube-router does not filter INPUT, FORWARD, OUTPUT' })
})

test('a pod without rules is reported', async () => {
  filter = { stdout: hooks }
  expect(await runRules()).toEqual({
    state: 'unhealthy',
    code: 'POLICY_RULES',
    message: 'kube-router has no rules for default/web (10.244.1.5)',
  })
})

test('in a dual-stack cluster the rules of both families are checked', async () => {
  const check = { kind: 'policy-rules', node: 'w1', kubeconfig: '/kubeconfig', ipv6: true } as const
  pods = [{ name: 'web', status: { podIPs: [{ ip: '10.244.1.5' }, { ip: 'fd00:10:244:1::5' }] } }]
  expect(await runCheck(check)).toEqual({ state: 'healthy' })
  expect(await runRules()).toEqual({ state: 'healthy' })
  ipv6Filter = { stdout: hooks }
  expect(await runRules()).toEqual({ state: 'healthy' })
  expect(await runCheck(check)).toMatchObject({
    code: 'POLICY_RULES',
    message: 'kube-router has no rules for default/web (10.244.1.5, fd00:10:244:1::5)',
  })
  ipv6Filter = { stdout: '' }
  expect(await runCheck(check)).toMatchObject({
    message: 'kube-router does not filter INPUT, FORWARD, OUTPUT of IPv6',
  })
})

test('a pod that was deleted since the last list needs no rules', async () => {
  expect(await runRules()).toEqual({ state: 'healthy' })
  filter = { stdout: hooks }
  pods = []
  expect(await runRules()).toEqual({ state: 'healthy' })
})

test.each<readonly [string, TestPod]>([
  ['with the network of the host', { name: 'x', spec: { hostNetwork: true } }],
  ['that has ended', { name: 'x', status: { phase: 'Succeeded' } }],
  ['without an address', { name: 'x', status: { podIPs: undefined } }],
  ['that started a short time ago', { name: 'x', status: { startTime: '2026-12-31T23:59:30Z' } }],
])('a pod %s needs no rules', async (_, pod) => {
  filter = { stdout: hooks }
  pods = [pod]
  expect(await runRules()).toEqual({ state: 'healthy' })
})

test('an API that does not respond makes the probe unknown', async () => {
  refused = '/api/v1/pods'
  expect(await runRules()).toMatchObject({ state: 'unknown' })
})

test.each(['/apis/networking.k8s.io', '/api/v1/pods', '/api/v1/namespaces'])(
  'missing permissions for %s are reported',
  async (path) => {
    expect(await runAccess()).toEqual({ state: 'healthy' })
    refused = path
    expect(await runAccess()).toMatchObject({ state: 'unhealthy', code: 'POLICY_ACCESS' })
  },
)

test('rules are parsed as kube-router writes them', () => {
  expect(findMissingHooks(hooks)).toEqual([])
  expect(findMissingHooks('')).toEqual(['INPUT', 'FORWARD', 'OUTPUT'])
  expect([...listFilteredAddresses(rule('10.244.0.2') + rule('10.244.0.3'))]).toEqual([
    '10.244.0.2',
    '10.244.0.3',
  ])
})
