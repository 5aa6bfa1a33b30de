import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProbePod } from '../../lab/bench/workload.ts'
import {
  buildNginxIngress,
  buildRoute,
  gatewayPath,
  ingressPath,
  userGateway,
  waitForResponse,
} from '../support/gateway.ts'
import { openKubectl } from '../support/kubectl.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import { startPodOnEachNode } from '../support/up-expectations.ts'

const kubernetes = '1.37.1'
const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const settings = { defaultClass: false, gatewayApi: { defaultGateway: true }, nginxAnnotations: true }

const clusterNow = setUpCluster('gateway', '1+1', kubernetes, {
  beforeLock: async ({ edit }) => edit((document) => document.setIn(['spec', 'ingress'], settings)),
})
let pods: readonly ProbePod[]
const rows: string[] = []

beforeAll(async () => {
  pods = await startPodOnEachNode(clusterNow())
}, 300_000)

afterAll(async () => {
  const [hyperkube = ''] = (await clusterNow().hyperkube('version')).stdout.split('\n')
  await writeFile(
    join(import.meta.dirname, '../../docs/evidence/gateway.md'),
    `# Gateway API and annotations of ingress-nginx

Written by \`npx vitest run --project full test/full/gateway.test.ts\` on ${new Date().toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes}, Traefik 3.6.12,
one control plane and one worker. Requests are HTTP, to port 80 of the control plane.

| check | result |
|---|---|
${rows.join('\n')}

Not shown here: HTTPS listeners, GRPCRoute, BackendTLSPolicy, the conformance suite of the Gateway API, and annotations other than those named.
`,
  )
})

const report = (check: string, result: string): void => void rows.push(`| ${check} | ${result} |`)
const podNames = (): string[] => pods.map(({ name }) => name)

/** Reads the findings of `doctor` about annotations without effect: one line per Ingress. */
async function readUnservedIngresses(): Promise<readonly string[]> {
  const { stdout } = await clusterNow().operator.must(0, 'doctor', '-o', 'json')
  const document: { findings: { code: string; evidence: string[] }[] } = JSON.parse(stdout)
  return document.findings
    .filter(({ code }) => code === 'INGRESS_ANNOTATIONS_UNSERVED')
    .flatMap(({ evidence }) => evidence)
}

async function countGatewayCrds(): Promise<number> {
  const { items } = await clusterNow().api.get<{ items: { metadata: { name: string } }[] }>(crdPath)
  return items.filter(({ metadata: { name } }) => name.endsWith('.gateway.networking.k8s.io')).length
}

async function exists(path: string): Promise<boolean> {
  return clusterNow()
    .api.text(path)
    .then(() => true)
    .catch(() => false)
}

test('a second plan has nothing to do', async () => {
  expect((await clusterNow().operator.must(0, 'plan')).stdout).toContain('nothing to do')
  report('second `plan`', 'nothing to do')
})

test('routes of the default Gateway and of a Gateway of a user reach a pod', async () => {
  const { api } = clusterNow()
  const defaultGateway = { name: 'traefik', namespace: 'kube-system' }
  await api.create(`${gatewayPath}/gateways`, userGateway)
  await api.create(`${gatewayPath}/httproutes`, buildRoute('mine', { name: 'mine' }))
  await api.create(`${gatewayPath}/httproutes`, buildRoute('shared', defaultGateway))
  for (const name of ['mine', 'shared']) {
    const { body, milliseconds } = await waitForResponse(
      clusterNow(),
      `${name}.example`,
      '/app/hostname',
      200,
    )
    expect(podNames()).toContain(body)
    const gateway = name === 'mine' ? 'a Gateway of a user' : 'the default Gateway'
    report(`HTTPRoute of ${gateway}, with a rewrite of /app to /`, `a pod responds after ${milliseconds} ms`)
  }
})

test('Ingresses of the class nginx and without a class are served with their annotations', async () => {
  const { api } = clusterNow()
  const annotations = {
    'use-regex': 'true',
    'enable-cors': 'true',
    'cors-allow-origin': 'https://shop.example',
  }
  await api.create(ingressPath, buildNginxIngress('regex', 'nginx', '/host[a-z]+$', annotations))
  await api.create(ingressPath, buildNginxIngress('plain', undefined, '/host[a-z]+$', annotations))
  for (const [name, className] of [
    ['regex', 'of class nginx'],
    ['plain', 'without a class'],
  ]) {
    const { body, allowedOrigin } = await waitForResponse(clusterNow(), `${name}.example`, '/hostname', 200)
    expect(podNames()).toContain(body)
    expect(allowedOrigin).toBe('https://shop.example')
    report(
      `Ingress ${className} with use-regex, enable-cors and cors-allow-origin`,
      'all three have their effect',
    )
  }
  expect(await readUnservedIngresses()).toEqual([])
})

test('doctor lists an annotation that Traefik does not support', async () => {
  const { api } = clusterNow()
  const annotations = { 'rewrite-target': '/$1', 'use-regex': 'true' }
  await api.create(ingressPath, buildNginxIngress('rewritten', 'nginx', '/app/(.*)', annotations))
  await waitForResponse(clusterNow(), 'rewritten.example', '/app/hostname', 404)
  expect(await readUnservedIngresses()).toEqual(['Ingress default/rewritten of class nginx: rewrite-target'])
  report('Ingress with rewrite-target', 'served without the rewrite; `doctor` reports it, exit code 0')
})

test(
  'switched off, CRDs and objects of users stay, and nothing serves them',
  { timeout: 300_000 },
  async () => {
    const { operator } = clusterNow()
    await operator.edit((document) => document.setIn(['spec', 'ingress'], { defaultClass: false }))
    const { stdout, stderr } = await operator.must(0, 'up', '--yes')
    // Each finding is printed before and after the change.
    const left = `${stdout}${stderr}`.matchAll(/ADDON_OBJECT_LEFT.*CustomResourceDefinition (\S+)/g)
    expect(new Set([...left].map(([, name]) => name)).size).toBe(6)
    expect(await countGatewayCrds()).toBe(6)
    for (const path of ['gateways/mine', 'httproutes/mine', 'httproutes/shared'])
      expect(await exists(`${gatewayPath}/${path}`), path).toBe(true)
    expect(await exists('/apis/gateway.networking.k8s.io/v1/gatewayclasses/traefik')).toBe(false)
    expect(await exists('/apis/networking.k8s.io/v1/ingressclasses/nginx')).toBe(false)
    for (const host of ['mine.example', 'shared.example'])
      await waitForResponse(clusterNow(), host, '/app/hostname', 404)
    expect(await readUnservedIngresses()).toHaveLength(3)
    expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
    report(
      'both settings removed',
      'six CRDs, one Gateway and two HTTPRoutes of users stay; requests get 404; `plan` has nothing to do',
    )
  },
)

test('CRDs of another manager are refused, and used if they are external', { timeout: 300_000 }, async () => {
  const { operator } = clusterNow()
  await using kubectl = await openKubectl(clusterNow(), 'v1.37.1')
  const version = 'gateway.networking.k8s.io/bundle-version=v1.5.0'
  await kubectl.run('annotate', '--overwrite', 'crd', 'gateways.gateway.networking.k8s.io', version)
  await operator.edit((document) => document.setIn(['spec', 'ingress'], settings))
  const refused = await operator.hyperkube('up', '--yes')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('GATEWAY_API_FOREIGN')
  const external = { ...settings.gatewayApi, crds: 'external' }
  await operator.edit((document) => document.setIn(['spec', 'ingress', 'gatewayApi'], external))
  await operator.must(0, 'up', '--yes')
  for (const name of ['mine', 'shared'])
    await waitForResponse(clusterNow(), `${name}.example`, '/app/hostname', 200)
  report(
    'a CRD with another version, set by kubectl',
    '`up` refuses with `GATEWAY_API_FOREIGN`; with `crds: external` both routes work again',
  )
})
