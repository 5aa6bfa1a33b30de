import { expect, test } from 'vitest'
import type { NodePlan } from '../contract/node-plan.ts'
import { buildArtifact, buildComponent, buildFile, buildPlan, buildUnit } from './testing/fixtures.ts'
import { listResources, resourcesAfterApply } from './plan-resources.ts'

const etcd = buildComponent({
  name: 'etcd',
  stage: 'etcd',
  users: ['etcd'],
  modules: ['overlay'],
  sysctls: { 'vm.swappiness': '1' },
  firewall: [{ name: 'peers', protocol: 'tcp', ports: '2380' }],
  directories: [{ path: '/etc/etcd', owner: 'etcd', mode: '0700' }],
  artifacts: [buildArtifact('etcd', '3.7.3')],
  images: ['registry.example/pause:3'],
  files: [buildFile('/etc/etcd/a', 'text'), buildFile('/etc/etcd/b', 'text', false)],
  derivedFiles: [{ path: '/etc/net', owner: 'root', mode: '0600', from: '/run/env', template: 'x' }],
  certificates: [
    {
      ca: 'etcd',
      subject: { commonName: 'a', organizations: [] },
      names: { dns: ['a'], ip: [] },
      usages: ['server'],
      lifetime: 60_000,
      owner: 'etcd',
      certificateFile: '/etc/etcd/server.crt',
      keyFile: '/etc/etcd/server.key',
    },
  ],
  service: buildUnit('etcd', '[Unit]'),
})

test('all resources of a component are listed in creation order', () => {
  const listed = listResources(buildPlan(etcd)).map(({ target, name, restart }) => [target, name, restart])
  expect(listed).toEqual([
    ['user', 'etcd', false],
    ['module', 'overlay', false],
    ['sysctl', 'vm.swappiness', false],
    ['firewall-rule', 'peers', false],
    ['directory', '/etc/etcd', false],
    ['artifact', 'etcd-3.7.3', true],
    ['image', 'registry.example/pause:3', false],
    ['file', '/etc/etcd/a', true],
    ['file', '/etc/etcd/b', false],
    ['certificate', '/etc/etcd/server.crt', false],
    ['derived-file', '/etc/net', false],
    ['service', 'etcd.service', true],
  ])
})

test('each resource has its component and stage', () => {
  for (const item of listResources(buildPlan(etcd)))
    expect(item).toMatchObject({ component: 'etcd', stage: 'etcd' })
})

const secret = (name: string, tag: string, restart = true): NodePlan =>
  buildPlan(
    buildComponent({
      name: 'x',
      files: [
        {
          path: '/key',
          owner: 'root',
          mode: '0600',
          content: { kind: 'secret', secret: name, tag },
          restart,
        },
      ],
    }),
  )

const digests = (plan: NodePlan): string[] => listResources(plan).map(({ digest }) => digest)

test('the digest of a secret file depends on its tag and not on its name', () => {
  expect(digests(secret('a', 'one'))).toEqual(digests(secret('b', 'one')))
  expect(digests(secret('a', 'one'))).not.toEqual(digests(secret('a', 'two')))
})

test('the restart flag is not part of the digest of a file', () => {
  expect(digests(secret('a', 'one', true))).toEqual(digests(secret('a', 'one', false)))
})

test('the URL is not part of the digest of an artifact', () => {
  const artifact = buildArtifact('etcd', '3.7.3')
  const from = (url: string): NodePlan =>
    buildPlan(buildComponent({ name: 'etcd', artifacts: [{ ...artifact, from: 'url', ...download, url }] }))
  const download = { sha256: 'a'.repeat(64), unpack: { kind: 'program', as: 'etcd' } } as const
  expect(digests(from('https://one.example/etcd'))).toEqual(digests(from('https://two.example/etcd')))
})

test('owner and mode are part of the digest of a file', () => {
  const of = (access: { owner: string; mode: string }): string[] =>
    digests(buildPlan(buildComponent({ name: 'x', files: [{ ...buildFile('/a', 'text'), ...access }] })))
  const root = of({ owner: 'root', mode: '0600' })
  expect(of({ owner: 'root', mode: '0644' })).not.toEqual(root)
  expect(of({ owner: 'etcd', mode: '0600' })).not.toEqual(root)
})

test('every changed value changes the digest of its resource', () => {
  const changed = {
    ...etcd,
    sysctls: { 'vm.swappiness': '2' },
    firewall: [{ name: 'peers', protocol: 'tcp' as const, ports: '2381' }],
    directories: [{ path: '/etc/etcd', owner: 'root', mode: '0700' }],
    derivedFiles: etcd.derivedFiles.map((file) => ({ ...file, template: 'y' })),
    certificates: etcd.certificates.map((one) => ({ ...one, lifetime: 120_000 })),
    files: [buildFile('/etc/etcd/a', 'other'), buildFile('/etc/etcd/b', 'text', false)],
    service: buildUnit('etcd', '[Service]'),
  }
  const before = digests(buildPlan(etcd))
  const differing = listResources(buildPlan(changed)).filter(({ digest }, index) => digest !== before[index])
  expect(differing.map(({ target }) => target)).toEqual([
    'sysctl',
    'firewall-rule',
    'directory',
    'file',
    'certificate',
    'derived-file',
    'service',
  ])
})

test('if two components differ about a resource, the first one applies', () => {
  const plan = buildPlan(
    buildComponent({ name: 'a', directories: [{ path: '/shared', owner: 'root', mode: '0755' }] }),
    buildComponent({ name: 'b', directories: [{ path: '/shared', owner: 'root', mode: '0700' }] }),
  )
  const [first, second] = resourcesAfterApply(plan)
  expect(second).toEqual({ ...first, component: 'b' })
})
