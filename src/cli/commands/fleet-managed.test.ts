import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readSignedDocument } from '../../fleet/desired-document.ts'
import { managedClusterSpec } from '../../fleet/cluster-resource.ts'
import { parseKeyFile } from '../../identity/sealing-key.ts'
import { unsealIdentity } from '../../identity/seal.ts'
import { buildSigningKey } from '../../identity/signing-key.ts'
import {
  type ReceivedRequest,
  startHttpsTestServer,
  type TestResponse,
} from '../../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { type CliResult, runHyperkube } from '../testing/run-in-memory.ts'

const clusterFile = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: berlin, fleet: ../../fleet.yml, labels: { stage: canary } }
spec:
  kubernetes: 1.37.1
  dns: none
  metrics: none
  ingress: none
  storage: none
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }
  addons:
    - { name: web, files: [web.yml] }
`
const files = {
  'fleet.yml':
    'apiVersion: hyperkube.dev/v1\nkind: Fleet\nmetadata: { name: retail }\nspec: { clusters: [clusters/*/cluster.yml] }\n',
  'clusters/berlin/cluster.yml': clusterFile,
  'clusters/berlin/cluster.lock':
    'apiVersion: hyperkube.dev/v1\nkind: Lock\nkubernetes: 1.37.1\nartifacts: []\nimages: {}\n',
  'clusters/berlin/web.yml': buildWeb('first'),
}

function buildWeb(word: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web, namespace: default }\ndata: { word: ${word} }\n`
}

let ca: TestCa
let ready: Record<string, string>
beforeAll(async () => {
  ca = await createTestCa()
  const { files: all } = await runHyperkube('init -f clusters/berlin/cluster.yml', files)
  ready = Object.fromEntries(all)
})

const identityFile = 'clusters/berlin/cluster.identity'
const keyFile = '/home/me/.config/hyperkube/keys/berlin.key'

/** A management plane with one Cluster object. */
class FakePlane {
  cluster: Record<string, unknown> | undefined = {
    ...{ apiVersion: 'fleet.hyperkube.dev/v1', kind: 'Cluster', metadata: { name: 'berlin' } },
  }
  isPlane = true
  readonly writes: string[] = []
  onWrite = (): void => undefined

  readonly respond = ({ method, path, body }: ReceivedRequest): TestResponse => {
    if (!this.isPlane) return { status: 404, text: '404 page not found' }
    if (path.endsWith('/clustersets')) return { json: { metadata: {}, items: [] } }
    if (this.cluster === undefined)
      return { status: 404, json: { kind: 'Status', reason: 'NotFound', message: 'not found' } }
    if (method === 'PATCH') {
      this.writes.push(path)
      this.onWrite()
      this.cluster = { ...this.cluster, ...z.looseObject({}).parse(body) }
    }
    return { json: this.cluster }
  }

  async run(
    commandLine: string,
    more: Readonly<Record<string, string>> = {},
    signal = new AbortController().signal,
  ): Promise<CliResult> {
    await using server = await startHttpsTestServer(ca, this.respond)
    const encode = (text: string): string => Buffer.from(text).toString('base64')
    const kubeconfig = JSON.stringify({
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      clusters: [
        { name: 'x', cluster: { server: server.url, 'certificate-authority-data': encode(ca.certificate) } },
      ],
      users: [
        {
          name: 'x',
          user: {
            'client-certificate-data': encode(ca.client.certificate),
            'client-key-data': encode(ca.client.privateKey),
          },
        },
      ],
    })
    return await runHyperkube(
      `${commandLine} --management plane`,
      { ...ready, plane: kubeconfig, ...more },
      { signal },
    )
  }

  async readDocument() {
    const identity = await unsealIdentity(ready[identityFile] ?? '', parseKeyFile(ready[keyFile] ?? ''))
    const { desired } = managedClusterSpec.parse(this.cluster?.['spec'])
    if (desired === undefined) throw new Error('there is no document')
    const { publicKey } = buildSigningKey(identity)
    return readSignedDocument(desired, { publicKey, cluster: identity.id })
  }
}

test('publish signs the addons of cluster.yml once, and again only after a change', async () => {
  const plane = new FakePlane()
  const preview = await plane.run('fleet publish --dry-run')
  expect([preview.code, plane.writes]).toEqual([3, []])
  expect(preview.stdout).toMatch(/^berlin +publish generation \d+ with 1 addons +pending$/m)
  expect((await plane.run('fleet publish --yes')).code).toBe(0)
  const first = await plane.readDocument()
  expect(first.addons).toMatchObject([{ name: 'web', manifests: [{ data: { word: 'first' } }] }])
  expect((await plane.run('fleet publish --yes')).stdout).toMatch(/^berlin +generation \d+ +unchanged$/m)
  expect(plane.writes).toHaveLength(1)
  await plane.run('fleet publish --yes', { 'clusters/berlin/web.yml': buildWeb('second') })
  const second = await plane.readDocument()
  expect(second.generation).toBeGreaterThan(first.generation)
  expect(second.addons).toMatchObject([{ manifests: [{ data: { word: 'second' } }] }])
})

test('after a restore of the management plane, publish chooses a number above the accepted one', async () => {
  const plane = new FakePlane()
  await plane.run('fleet publish --yes')
  // An hour after the time of the tests.
  const accepted = { generation: 1_794_747_600, digest: 'x' }
  plane.cluster = { ...plane.cluster, status: { accepted } }
  expect((await plane.run('fleet publish --yes')).code).toBe(0)
  expect((await plane.readDocument()).generation).toBe(1_794_747_601)
})

test('publish needs a cluster that has joined', async () => {
  const plane = new FakePlane()
  plane.cluster = undefined
  const { code, stdout } = await plane.run('fleet publish --yes')
  expect([code, stdout]).toEqual([1, expect.stringContaining('FLEET_NOT_JOINED')])
  expect(stdout).toMatch(/^ {2}→ hyperkube fleet join --select name=berlin --management KUBECONFIG$/m)
})

test.each(['join', 'publish'])('fleet %s refuses a name that another cluster uses', async (command) => {
  const plane = new FakePlane()
  const annotations = { 'hyperkube.dev/cluster-id': '0b0e7c0e-5a0e-4c55-8f0e-6a1d6a0e7c11' }
  plane.cluster = { ...plane.cluster, metadata: { name: 'berlin', annotations } }
  const { code, stdout } = await plane.run(`fleet ${command} --yes`)
  expect([code, stdout]).toEqual([1, expect.stringContaining('FLEET_NAME_TAKEN')])
  expect(plane.writes).toEqual([])
})

test('a document that the operator did not sign does not limit the next number', async () => {
  const plane = new FakePlane()
  const desired = { generation: Number.MAX_SAFE_INTEGER, document: '{}', signature: 'AAAA' }
  plane.cluster = { ...plane.cluster, spec: { desired } }
  expect((await plane.run('fleet publish --yes')).code).toBe(0)
  expect((await plane.readDocument()).generation).toBeLessThan(2_000_000_000)
})

test('Ctrl-C while documents are written ends with exit code 130', async () => {
  const plane = new FakePlane()
  const controller = new AbortController()
  plane.onWrite = () => controller.abort()
  const { code, stdout } = await plane.run('fleet publish --yes', {}, controller.signal)
  expect(code).toBe(130)
  expect(stdout).toMatch(/^berlin +publish/m)
})

test('join shows which clusters are new, and changes nothing without a confirmation', async () => {
  const plane = new FakePlane()
  expect((await plane.run('fleet join --dry-run')).stdout).toMatch(/^berlin +new credential +pending$/m)
  plane.cluster = undefined
  const preview = await plane.run('fleet join --dry-run -o json')
  expect(preview.code).toBe(3)
  expect(JSON.parse(preview.stdout).items).toEqual([{ name: 'berlin', change: 'join', state: 'pending' }])
  expect((await plane.run('fleet join')).code).toBe(2)
  expect(plane.writes).toEqual([])
})

test.each(['join', 'publish'])('fleet %s needs a management plane', async (command) => {
  expect((await runHyperkube(`fleet ${command}`, ready)).code).toBe(2)
  const plane = new FakePlane()
  plane.isPlane = false
  const { code, stderr } = await plane.run(`fleet ${command} --yes`)
  expect([code, stderr]).toEqual([1, expect.stringContaining('FLEET_MANAGEMENT_NOT_READY')])
})
