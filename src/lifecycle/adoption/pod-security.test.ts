import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readCluster } from '../../spec/read-cluster.ts'
import { buildAdoptedCluster } from './cluster-settings.ts'
import { listEffects } from './effects.ts'
import type { AdoptedHost, AdoptionObservation, PodSecurityDefaults } from './observation.ts'
import { planPodSecurity, unrestricted } from './pod-security.ts'
import {
  buildKubeadmObservation,
  buildRke1Observation,
  changeArgs,
  changeHost,
} from './testing/observations.ts'

const file = { 'admission-control-config-file': '/etc/kubernetes/pki/admission.yaml' }

/** Configures admission on all control planes. Hosts without API servers do not use it. */
function configure(admission: AdoptedHost['admission'], args = {}): AdoptionObservation {
  const base = changeArgs(buildKubeadmObservation(), 'kube-apiserver', { ...file, ...args })
  return {
    ...base,
    hosts: base.hosts.map((host) => ({ ...host, ...(admission === undefined ? {} : { admission }) })),
  }
}

function secure(change: Partial<PodSecurityDefaults>, args = {}): AdoptionObservation {
  return configure({ plugins: [], podSecurity: { ...unrestricted, ...change } }, args)
}

function readLevel(observation: AdoptionObservation, security?: object): unknown {
  const given = {
    name: 'shop',
    hostSsh: new Map(),
    ...(security === undefined ? {} : { spec: { security } }),
  }
  const text = stringify(buildAdoptedCluster(observation, given))
  const { cluster } = readCluster({ file: 'cluster.yml', text })
  return cluster?.spec.security
}

function listLosses(observation: AdoptionObservation): readonly string[] {
  return listEffects(observation)
    .filter(({ code }) => /^ADOPT_LOSES_(?:POD_SECURITY|ADMISSION|FLAGS)$/.test(code))
    .map(({ message, next }) => `${message}; ${next}`)
}

test.each(['baseline', 'restricted'] as const)(
  'the level %s stays if only kube-system is exempt',
  (enforce) => {
    const observation = secure({ enforce, namespaces: ['kube-system'] })
    expect(readLevel(observation)).toMatchObject({ podSecurity: enforce })
    expect(listLosses(observation)).toEqual([])
  },
)

test('settings of the file of RKE1 do not replace the level', () => {
  const observation = secure({ enforce: 'baseline', namespaces: ['kube-system'] })
  expect(readLevel(observation, { audit: { maxAge: 5 } })).toMatchObject({
    podSecurity: 'baseline',
    audit: { maxAge: 5 },
  })
})

test('kube-system becomes exempt, and the report says so', () => {
  const observation = secure({ enforce: 'baseline' })
  expect(readLevel(observation)).toMatchObject({ podSecurity: 'baseline' })
  expect(listLosses(observation)).toEqual([
    expect.stringMatching(/^Pod Security level baseline of kube-system, which hyperkube exempts; /),
  ])
})

test.each([
  [{ namespaces: ['ingress-nginx', 'kube-system'] }, 'the exempt namespaces ingress-nginx'],
  [{ usernames: ['ci'] }, 'the exempt users ci'],
  [{ runtimeClasses: ['kata'] }, 'the exempt runtime classes kata'],
  [{ version: 'v1.30' }, 'the rules of version v1.30'],
])('a level that would refuse more pods is lost with its reason: %j', (change, reason) => {
  const observation = secure({ enforce: 'restricted', warn: 'restricted', ...change })
  expect(readLevel(observation)).toMatchObject({ podSecurity: 'privileged' })
  expect(listLosses(observation)).toEqual([
    expect.stringContaining(
      `Pod Security level restricted of namespaces without a label, because cluster.yml cannot have ${reason}; `,
    ),
  ])
})

test('the namespaces to label are named', () => {
  const [line] = listLosses(
    secure({ enforce: 'restricted', namespaces: ['ingress-nginx', 'kube-system', 'storage'] }),
  )
  expect(line).toContain(
    'kubectl label namespace ingress-nginx storage pod-security.kubernetes.io/enforce=privileged; then set spec.security.podSecurity: restricted',
  )
})

test('stricter warnings than the level are lost', () => {
  expect(listLosses(secure({ warn: 'restricted', audit: 'baseline' }))).toEqual([
    expect.stringContaining('warn: restricted, audit: baseline'),
  ])
})

test('different levels of control planes are lost', () => {
  const observation = changeHost(secure({ enforce: 'restricted', namespaces: ['kube-system'] }), 1, () => ({
    admission: { plugins: [] },
  }))
  expect(readLevel(observation)).toMatchObject({ podSecurity: 'privileged' })
  expect(listLosses(observation)).toEqual([
    expect.stringContaining('differs between control planes: restricted and privileged'),
  ])
})

test('settings of a disabled plugin have no effect', () => {
  const disabled = { 'disable-admission-plugins': 'PodSecurity' }
  const observation = secure({ enforce: 'restricted', usernames: ['ci'] }, disabled)
  expect(planPodSecurity(observation)).toEqual({ level: 'privileged', items: [] })
  expect(listLosses(observation)).toEqual([])
})

test('settings of other plugins are lost if the plugin is enabled', () => {
  const admission = { plugins: ['EventRateLimit', 'ResourceQuota', 'ImagePolicyWebhook'] }
  const enabled = { 'enable-admission-plugins': 'NodeRestriction,EventRateLimit' }
  expect(listLosses(configure(admission, enabled))).toEqual([
    expect.stringContaining('--enable-admission-plugins=EventRateLimit'),
    expect.stringContaining('settings of admission plugins: EventRateLimit and ResourceQuota'),
  ])
})

test('the file that RKE1 always has is not lost, and one that is not understood is', () => {
  expect(listLosses(buildRke1Observation())).toEqual([])
  expect(listLosses(configure(undefined))).toEqual([
    expect.stringContaining('flags of kube-apiserver: --admission-control-config-file'),
  ])
})
