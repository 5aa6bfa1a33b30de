import { expect, test } from 'vitest'
import { parts } from '../components/parts.ts'
import { listImages } from './images.ts'
import { contentPath, parseRegistryRequest, tagPath, listCandidateFiles } from './registry-paths.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
const registries = ['docker.io', 'ghcr.io', 'quay.io', 'registry.k8s.io']

function findFiles(path: string, ns: string | null = null): string[] {
  const request = parseRegistryRequest(path)
  return request === undefined ? [] : listCandidateFiles(request, registries, ns)
}

test('a registry request finds the published files of an image', () => {
  const image = 'registry.k8s.io/coredns/coredns:v1.15.0'
  const repository = 'registry/registry.k8s.io/coredns/coredns'
  expect(tagPath(image)).toBe(`${repository}/_manifests/v1.15.0`)
  expect(contentPath(image, 'manifests', digest)).toBe(`${repository}/_manifests/${digest}`)
  expect(contentPath(image, 'blobs', digest)).toBe(`${repository}/_blobs/${digest}`)
  expect(findFiles('/v2/coredns/coredns/manifests/v1.15.0')).toContain(tagPath(image))
  expect(findFiles(`/v2/coredns/coredns/manifests/${digest}`)).toContain(
    contentPath(image, 'manifests', digest),
  )
  expect(findFiles(`/v2/coredns/coredns/blobs/${digest}`)).toContain(contentPath(image, 'blobs', digest))
})

test('every image of the components can be requested', () => {
  for (const { name } of parts.flatMap(listImages)) {
    const [, host, repository, tag] = /^([^/]+)\/(.+):(.+)$/.exec(name) ?? []
    expect(findFiles(`/v2/${repository}/manifests/${tag}`, host ?? ''), name).toEqual([tagPath(name)])
  }
})

test('a port belongs to the registry, not to the tag', () => {
  expect(tagPath('localhost:5000/a/b:1')).toBe('registry/localhost:5000/a/b/_manifests/1')
  expect(() => tagPath('localhost:5000/a/b')).toThrow('is not a registry, a name and a tag')
})

test('ns selects the registry, and without ns all registries are searched', () => {
  expect(findFiles('/v2/pause/manifests/3.10', 'registry.k8s.io')).toEqual([
    'registry/registry.k8s.io/pause/_manifests/3.10',
  ])
  expect(findFiles('/v2/pause/manifests/3.10')).toEqual([
    'registry/docker.io/pause/_manifests/3.10',
    'registry/ghcr.io/pause/_manifests/3.10',
    'registry/quay.io/pause/_manifests/3.10',
    'registry/registry.k8s.io/pause/_manifests/3.10',
  ])
  for (const ns of ['gcr.io', '', '..', '../registry/docker.io']) {
    expect(findFiles('/v2/pause/manifests/3.10', ns), ns).toEqual([])
  }
})

test.each([
  '/v2/',
  '/v2/pause',
  '/v2/pause/tags/list',
  '/v2//manifests/1',
  '/v2/manifests/1',
  '/v2/pause/manifests/',
  '/v2/pause/manifests/.1',
  '/v2/pause/manifests/..',
  '/v2/pause/manifests/a/b',
  '/v2/pause/manifests/sha256:abc',
  `/v2/pause/manifests/sha512:${'0'.repeat(128)}`,
  '/v2/pause/blobs/3.10',
  '/v2/pause/blobs/../../../etc/passwd',
  `/v2/../blobs/${digest}`,
  `/v2/a/../b/blobs/${digest}`,
  `/v2/a/_blobs/blobs/${digest}`,
  `/v2/Pause/blobs/${digest}`,
  `/v2/pause/blobs/${digest}\n`,
  '/images/v2/pause/manifests/1',
])('%j is not a registry request', (path) => {
  expect(parseRegistryRequest(path)).toBeUndefined()
})
