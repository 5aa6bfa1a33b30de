import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { selectParts } from '../components/parts.ts'
import { listImages } from '../mirror/images.ts'
import { renderDockerConfig, renderRkeConfig } from './config.ts'

const createHost = (name: string, address: string) => ({
  name,
  address,
  ssh: { address, keyFile: '/lab/key', knownHosts: '/lab/known_hosts', control: '/lab/control' },
})

const text = renderRkeConfig({
  controlPlanes: [createHost('cp1', '10.210.0.2')],
  workers: [createHost('w1', '10.210.0.3')],
})
const schema = z.looseObject({
  nodes: z.array(z.unknown()),
  system_images: z.record(z.string(), z.string()),
})
const config = schema.parse(parse(text))

test('each host has its role, its name and the key of the lab', () => {
  const common = { user: 'root', ssh_key_path: '/lab/key' }
  expect(config.nodes).toEqual([
    { ...common, address: '10.210.0.2', hostname_override: 'cp1', role: ['controlplane', 'etcd'] },
    { ...common, address: '10.210.0.3', hostname_override: 'w1', role: ['worker'] },
  ])
})

test('the mirror has every image that the configuration names, and Docker pulls from it', () => {
  const published = selectParts(['rke1']).flatMap((part) => listImages(part).map(({ name }) => name))
  const named = Object.values(config.system_images).map((name) => `docker.io/${name}`)
  expect(published.toSorted()).toEqual([...new Set(named)].toSorted())
  expect(JSON.parse(renderDockerConfig('http://10.210.0.1:8080'))).toMatchObject({
    'registry-mirrors': ['http://10.210.0.1:8080'],
    'insecure-registries': ['10.210.0.1:8080'],
  })
})

test('with canal, the mirror has every image that the configuration names', () => {
  const canal = schema.parse(
    parse(
      renderRkeConfig(
        { controlPlanes: [createHost('cp1', '10.210.0.2')], workers: [] },
        { network: 'canal' },
      ),
    ),
  )
  const published = new Set(
    selectParts(['rke1', 'calico']).flatMap((part) => listImages(part).map(({ name }) => name)),
  )
  const named = Object.values(canal.system_images).map((name) => `docker.io/${name}`)
  expect(named.filter((name) => !published.has(name))).toEqual([])
  expect(canal).toMatchObject({ network: { plugin: 'canal' } })
})

test('every program of an image belongs to the part or to one that it includes', () => {
  const [rke1] = selectParts(['rke1'])
  const parts = [...selectParts(rke1?.includes ?? []), ...selectParts(['rke1'])]
  const files = new Set(parts.flatMap(({ programs }) => programs.map(({ name }) => name)))
  const used = rke1 === undefined ? [] : listImages(rke1).flatMap(({ programs }) => Object.keys(programs))
  expect(used.filter((name) => !files.has(name))).toEqual([])
})

test('Secrets are encrypted only on request', () => {
  const hosts = { controlPlanes: [createHost('cp1', '10.210.0.2')], workers: [] }
  const read = (yaml: string): unknown =>
    z.looseObject({ services: z.looseObject({}) }).parse(parse(yaml)).services
  expect(read(renderRkeConfig(hosts, { encrypted: true }))).toMatchObject({
    'kube-api': { secrets_encryption_config: { enabled: true } },
  })
  expect(read(renderRkeConfig(hosts))).not.toHaveProperty('kube-api')
})
