import { expect, test } from 'vitest'
import { findKubernetesRelease } from '../../catalog/catalog.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import { buildTestLock } from '../testing/fixtures.ts'
import type { PlanInput } from '../context.ts'
import { checkCase, checkCaseBriefly, defaultHostLines } from './testing/fixtures.ts'

const withFile = [
  ...defaultHostLines.slice(0, 2),
  '- { name: w1, address: 10.0.0.21, roles: [worker], files: [{ path: /a, content: x }, { path: /b, source: b.txt }] }',
]

test('a source file of a host must exist in the directory of cluster.yml', () => {
  expect(checkCase({ hosts: withFile })).toEqual([
    {
      code: 'PLAN_FILE_MISSING',
      severity: 'error',
      message: 'the file b.txt does not exist in the directory of cluster.yml',
      hint: 'put b.txt into the directory of cluster.yml',
      path: 'spec.hosts[2].files[1].source',
      host: 'w1',
    },
  ])
  const attachments = new Map([['b.txt', 'content']])
  expect(checkCase({ hosts: withFile, input: (input) => ({ ...input, attachments }) })).toEqual([])
})

test('the audit policy file must exist in the directory of cluster.yml', () => {
  const spec = ['security: { audit: { policy: audit.yml } }']
  expect(checkCase({ spec })).toMatchObject([
    { code: 'PLAN_FILE_MISSING', path: 'spec.security.audit.policy', component: 'kube-apiserver' },
  ])
  const attachments = new Map([['audit.yml', 'rules: []']])
  expect(checkCase({ spec, input: (input) => ({ ...input, attachments }) })).toEqual([])
})

test('the password of a registry must be in the identity', () => {
  const spec = ['registries: [{ host: ghcr.io, username: me, password: { secret: puller } }]']
  expect(checkCase({ spec })).toMatchObject([
    {
      code: 'PLAN_SECRET_MISSING',
      message: 'cluster.identity has no secret puller, the password for ghcr.io',
      path: 'spec.registries[0].password',
    },
  ])
  const tags = new Map([['registry-login/ghcr.io', 'tag']])
  const found = checkCase({
    spec,
    input: (input) => ({ ...input, identity: { ...input.identity, tags } }),
  })
  expect(found).toEqual([])
})

test('the password of the proxy must be in the identity', () => {
  const spec = ["proxy: { https: 'http://proxy.example:3128', username: me, password: { secret: proxy } }"]
  const hosts = [defaultHostLines[0]]
  expect(checkCase({ spec, hosts })).toMatchObject([
    {
      code: 'PLAN_SECRET_MISSING',
      path: 'spec.proxy.password',
      hint: expect.stringContaining('secret set proxy'),
    },
  ])
  const tags = new Map([['proxy-login', 'tag']])
  const withSecret = (input: PlanInput) => ({ ...input, identity: { ...input.identity, tags } })
  expect(checkCase({ spec, hosts, input: withSecret })).toEqual([])
})

test('CA files for downloads and images must exist and contain only certificates', () => {
  const spec = [
    'registries: [{ host: ghcr.io, ca: registry.pem }]',
    "artifacts: { mirror: 'https://mirror.example', ca: mirror.pem }",
    "proxy: { https: 'http://proxy.example:3128', ca: proxy.pem }",
  ]
  const attachments = new Map([
    ['mirror.pem', 'no certificate'],
    ['proxy.pem', '-----BEGIN PRIVATE KEY-----'],
  ])
  const found = checkCase({ spec, input: (input) => ({ ...input, attachments }) })
  expect(found.map(({ code, path }) => [code, path])).toEqual([
    ['PLAN_FILE_MISSING', 'spec.registries[0].ca'],
    ['CA_FILE_INVALID', 'spec.artifacts.ca'],
    ['CA_FILE_INVALID', 'spec.proxy.ca'],
  ])
})

test('a registry password without a username is an error', () => {
  const spec = ['registries: [{ host: ghcr.io, password: { secret: puller } }]']
  expect(checkCase({ spec })).toMatchObject([
    { code: 'PLAN_SECRET_MISSING', message: 'the registry ghcr.io has a password, but no username' },
  ])
})

test('a lock for another Kubernetes version is reported once, not per host', () => {
  const input = checkCase({ input: (one) => ({ ...one, lock: buildTestLock('1.36.4') }) })
  expect(input.map(({ code }) => code)).toEqual(['LOCK_OTHER_KUBERNETES'])
})

test('a lock needs artifacts only for the architectures of the hosts', () => {
  const without = (arch: string) =>
    checkCaseBriefly({
      input: (input) => ({
        ...input,
        lock: { ...input.lock, artifacts: input.lock.artifacts.filter((one) => one.arch !== arch) },
      }),
    })
  expect(without('arm64')).toEqual([])
  expect(new Set(without('amd64'))).toEqual(new Set(['cluster error LOCK_MISSING_ARTIFACT']))
})

test('a lock needs only the images that the cluster uses', () => {
  const { pause = '', coredns = '' } = findKubernetesRelease(shippedCatalog, '1.37.1').images
  const found = (locked: Readonly<Record<string, string>>) =>
    checkCase({
      input: (input) => ({ ...input, images: [coredns], lock: { ...input.lock, images: { ...locked } } }),
    }).map(({ message }) => message)
  const digest = `sha256:${'a'.repeat(64)}`
  expect(found({ pause, coredns: `${coredns}@${digest}` })).toEqual([])
  expect(found({ pause })).toEqual([`the lock has no image for coredns, not ${coredns}`])
})

test('a mirror URL with a password is an error, and the password is not printed', () => {
  const found = checkCase({ spec: ['artifacts: { mirror: "https://me:secret@mirror.example.com" }'] })
  expect(found).toMatchObject([{ code: 'MIRROR_NOT_A_BASE', severity: 'error', path: 'spec.artifacts' }])
  expect(JSON.stringify(found)).not.toContain('secret')
})
