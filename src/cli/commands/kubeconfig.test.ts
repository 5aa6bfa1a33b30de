import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { runHyperkube } from '../testing/run-in-memory.ts'

const text = readFileSync(join(import.meta.dirname, '../../../examples/high-availability.yml'), 'utf8')
const document = z.looseObject({
  'current-context': z.string(),
  clusters: z.array(z.object({ name: z.string(), cluster: z.looseObject({ server: z.string() }) })),
  users: z.array(
    z.object({ name: z.string(), user: z.looseObject({ 'client-certificate-data': z.base64() }) }),
  ),
})

let files: Readonly<Record<string, string>>
beforeAll(async () => {
  files = Object.fromEntries((await runHyperkube('init', { 'cluster.yml': text })).files)
})

async function createKubeconfig(words: string) {
  const { stdout, code } = await runHyperkube(words, files)
  expect(code).toBe(0)
  const config = document.parse(parse(stdout))
  const [first] = config.users
  const pem = Buffer.from(first?.user['client-certificate-data'] ?? '', 'base64')
  return { config, certificate: new X509Certificate(pem) }
}

test('kubeconfig has a context for the endpoint and one for each control plane, valid for a day', async () => {
  const { config, certificate } = await createKubeconfig('kubeconfig')
  expect(config.clusters.map(({ name, cluster }) => [name, cluster.server])).toEqual([
    ['production', 'https://k8s.example.com:6443'],
    ['production-cp1', 'https://192.168.1.11:6443'],
    ['production-cp2', 'https://192.168.1.12:6443'],
    ['production-cp3', 'https://192.168.1.13:6443'],
  ])
  expect(config['current-context']).toBe('production')
  // The name contains the cluster, so kubeconfigs of two clusters can be merged.
  expect(config.users.map(({ name }) => name)).toEqual(['production-me'])
  expect(certificate.subject).toBe('O=hyperkube:admins\nCN=me@here')
  expect(certificate.validToDate).toEqual(new Date('2026-11-16T12:00:00Z'))
})

test('without an endpoint the virtual IP is the server of the first cluster entry', async () => {
  const changed = { ...files, 'cluster.yml': text.replace(/endpoint: \S+/, 'virtualIP: 192.168.1.10') }
  const { stdout, code } = await runHyperkube('kubeconfig', changed)
  expect(code).toBe(0)
  expect(document.parse(parse(stdout)).clusters[0]).toMatchObject({
    name: 'production',
    cluster: { server: 'https://192.168.1.10:6443' },
  })
})

test('--server sets the server of the first cluster entry', async () => {
  const { config } = await createKubeconfig('kubeconfig --server https://127.0.0.1:7443/')
  expect(config.clusters[0]).toMatchObject({
    name: 'production',
    cluster: { server: 'https://127.0.0.1:7443' },
  })
  expect(config.clusters).toHaveLength(4)
  expect((await runHyperkube('kubeconfig --server 127.0.0.1:7443', files)).code).toBe(2)
})

test('--for sets the lifetime, and --break-glass the group system:masters', async () => {
  const { certificate } = await createKubeconfig('kubeconfig --for 1h --break-glass')
  expect(certificate.subject).toBe('O=system:masters\nCN=me@here')
  expect(certificate.validToDate).toEqual(new Date('2026-11-15T13:00:00Z'))
})

test('--for with an invalid duration is a usage error', async () => {
  expect((await runHyperkube('kubeconfig --for 5', files)).code).toBe(2)
})

test('-o json prints the same as JSON', async () => {
  const { stdout } = await runHyperkube('kubeconfig -o json', files)
  expect(document.parse(JSON.parse(stdout))['current-context']).toBe('production')
})

const otherConfig = `apiVersion: v1
kind: Config
clusters: [{ name: other, cluster: { server: https://10.9.0.1:6443 } }]
users: [{ name: other, user: { client-certificate-data: eA== } }]
contexts: [{ name: other, context: { cluster: other, user: other } }]
current-context: other
`

test('--merge keeps other clusters, and the previous file', async () => {
  const before = { ...files, '/home/me/.kube/config': otherConfig }
  const dryRun = await runHyperkube('kubeconfig --merge --dry-run', before)
  expect(dryRun).toMatchObject({ code: 3, stderr: expect.stringContaining('+ context production-cp3') })
  expect(dryRun.files.get('/home/me/.kube/config')).toBe(otherConfig)
  const { code, stdout, stderr, files: after } = await runHyperkube('kubeconfig --merge', before)
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toContain('  → kubectl --context production get nodes\n')
  const merged = document.parse(parse(after.get('/home/me/.kube/config') ?? ''))
  expect(merged['current-context']).toBe('other')
  expect(merged.clusters.map(({ name }) => name)).toContain('other')
  expect(merged.clusters).toHaveLength(5)
  const backups = [...after.keys()].filter((path) => path.startsWith('/home/me/.kube/config.'))
  expect(backups.map((path) => after.get(path))).toEqual([otherConfig])
})

test('--merge creates the file that KUBECONFIG names first', async () => {
  const environment = { kubeconfig: '/a/config:/b/config' }
  const { code, files: after } = await runHyperkube('kubeconfig --merge', files, { environment })
  expect(code).toBe(0)
  expect(document.parse(parse(after.get('/a/config') ?? ''))['current-context']).toBe('production')
})
